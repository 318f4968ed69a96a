// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the forms of text that people paste: kernel logs, mails, web pages, and the output of rare print options. No
// line may be misread without a finding.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "formats/registry.hpp"
#include "formats/text/clean.hpp"

namespace kmt {
namespace {

struct ReadText {
  std::vector<Event> events;
  TraceInfo info;
  std::uint64_t unreadable() const { return info.findings.count_of(Imperfection::unreadable_line); }
  std::uint64_t lost() const { return total_lost_events(info.losses); }
};

ReadText read(const std::string& text) {
  const auto source =
      open_trace(TraceFile{"a text", {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, nullptr});
  ReadText read;
  for (EventBatch batch; source->read(batch);) read.events.insert(read.events.end(), batch.begin(), batch.end());
  read.info = source->info();
  return read;
}

const std::string kFields =
    "call_site=foo+0x1/0x9 ptr=ffff888001234500 bytes_req=60 bytes_alloc=64 gfp_flags=GFP_KERNEL node=-1";
const std::string kEvent = "kmalloc: " + kFields;
const std::string kHead = "            bash-812     [001] d.h1.   123.456001: ";

// Expects the allocation of kFields by task 812 on CPU 1.
void expect_allocation(const ReadText& found, const std::string& text) {
  ASSERT_EQ(found.events.size(), 1u) << text;
  const Event& event = found.events[0];
  EXPECT_EQ(event.kind, EventKind::kmalloc) << text;
  EXPECT_EQ(event.address, 0xffff888001234500) << text;
  EXPECT_EQ(event.bytes_requested, 60u) << text;
  EXPECT_EQ(event.bytes_allocated, 64u) << text;
  EXPECT_EQ(event.node, kNoNode) << text;
  EXPECT_EQ(found.unreadable(), 0u) << text;
}

TEST(TextForms, PrefixesOfKernelLogs) {
  for (const char* const prefix : {"[   13.882123] ",
                                   "[   13.882123][    T1] ",
                                   "[   13.882123] [    C0] ",
                                   "<0>[   13.882123] ",
                                   "<6>",
                                   "[Sat Nov 28 01:40:18 2026] ",
                                   "[2026-11-28T01:40:18.123456+00:00] ",
                                   "Nov 28 01:40:18 host kernel: ",
                                   "Nov  8 01:40:18 my-host kernel: [   13.882123] ",
                                   "2026-11-28T01:40:18.123456+00:00 host kernel: ",
                                   "[   13.882123] host kernel: ",
                                   "kern  :emerg : [   13.882123] ",
                                   "0,339,5140900,-;",
                                   "6.8.0,4,100,5140900,-;",
                                   "12:",
                                   "   12\t",
                                   "  12  ",
                                   "12:[   13.882123] ",
                                   "> [   13.882123] ",
                                   "> >> ",
                                   "> >> +",
                                   "+",
                                   "\xEF\xBB\xBF"}) {
    const std::string text = prefix + kHead + kEvent + "\n";
    const ReadText found = read(text);
    expect_allocation(found, text);
    EXPECT_EQ(found.events.at(0).cpu, 1u) << text;
    EXPECT_EQ(found.events.at(0).tid, 812) << text;
    EXPECT_EQ(found.events.at(0).time_ns, 123'456'001'000u) << text;
    EXPECT_EQ(task_name(found.info.tasks, 812, 123'456'001'000), "bash") << text;
  }
}

// Linux 4.13 to 4.18 print the process after the CPU.
TEST(TextForms, TheProcessMayFollowTheCpu) {
  for (const char* const process : {"( 1091) ", "(-----) "})
    expect_allocation(
        read("            bash-812     [001] " + std::string(process) + "d.h1.   123.456001: " + kEvent + "\n"),
        process);
}

// trace-cmd report can print the events of a host and its guest together.
TEST(TextForms, EventsOfSeveralFilesAreRefused) {
  const std::string text = "      trace.dat: " + kHead + kEvent + "\ntrace-guest.dat: " + kHead + kEvent + "\n";
  EXPECT_THROW(read(text), Error);
}

TEST(TextForms, OtherStartsOfLinesStay) {
  for (const char* const line : {"[001] kmem:kfree: ptr=0", "[12] x", "1) f();", "812 5.5: kmem:kfree: ptr=0", "kern",
                                 "[foo-bar] x", "5.906771: kmem:kfree: ptr=0", "<...>-12 [000] 5.0: f"})
    EXPECT_EQ(text::without_log_prefix(line), line);
}

// If ftrace_dump_on_oops is set, the kernel prints the ring buffer into its log.
TEST(TextForms, DumpInAKernelLog) {
  std::string log;
  while (log.size() < 100'000) log += "[    0.100000] pci 0000:00:1f.0: [8086:2918] type 00 class 0x060100\n";
  log += "[   13.881000] Dumping ftrace buffer:\n[   13.881001] ---------------------------------\n";
  log += "[   13.881002] CPU:0 [LOST 27 EVENTS]\n";
  log += "[   13.882003]     bash-812       1d.h1. 123456001us : " + kEvent + "\n";
  log += "** 3 printk messages dropped **\n";
  log += "** 5 printk messages dropped ** [   13.882500]     bash-812       1d.h1. 123456002us : " + kEvent + "\n";
  log += "[   13.883000] ---------------------------------\n[   13.884000] CPU: 0 PID: 1 Comm: swapper/0\n";
  const ReadText found = read(log);
  ASSERT_EQ(found.events.size(), 2u);
  EXPECT_EQ(found.events.at(0).time_ns, 123'456'001'000u);
  EXPECT_EQ(found.events.at(1).time_ns, 123'456'002'000u);
  EXPECT_EQ(found.events.at(1).address, found.events.at(0).address);
  EXPECT_EQ(found.events.at(0).context, Context::kHardIrq);
  EXPECT_EQ(found.lost(), 35u);
}

TEST(TextForms, LossesOfPerf) {
  const std::string event = "bash   812 [001]   123.456001: kmem:" + kEvent + "\n";
  const std::string lost = "bash   812 [001]   123.456001: PERF_RECORD_LOST lost 42\n";
  EXPECT_EQ(read(event + lost).lost(), 42u);
  const std::string sum = "bash   812 [000]   123.456001: PERF_RECORD_LOST_SAMPLES lost ";
  EXPECT_EQ(read(event + sum + "42\n").lost(), 42u);
  EXPECT_EQ(read(event + lost + sum + "50\n").lost(), 50u) << "the sum includes the first loss";
  EXPECT_EQ(read(event + lost + lost + sum + "42\n" + sum + "42\n").lost(), 84u);
  EXPECT_EQ(read(event + "Processed 100 events and lost 3 chunks!\n").info.findings.count_of(Imperfection::lost_events),
            1u);
}

// The columns of `perf script -F`, and of ftrace with the options nocontext-info and verbose.
TEST(TextForms, ColumnsThatUsersSelect) {
  struct Form {
    const char* head;
    std::int32_t tid;
    bool has_cpu, has_time;
  };
  for (const Form& form :
       {Form{"", -1, false, false}, Form{"kmem:", -1, false, false}, Form{"  123.456001: kmem:", -1, false, true},
        Form{"  bash kmem:", -1, false, false}, Form{"  812   123.456001:  kmem:", 812, false, true},
        Form{"  bash [001] 123.456001: kmem:", -1, true, true}, Form{"[001]  kmem:", -1, true, false},
        Form{"  123.456001: ", -1, false, true}, Form{"[001] d.h1.  123.456001: ", -1, true, true},
        Form{"123456001: kmem:", -1, false, false}, Form{"  812   kmem:", 812, false, false},
        Form{"  812/812 [001]  kmem:", 812, true, false}, Form{"  bash   812 [001]  kmem:", 812, true, false},
        Form{"  bash   812/812 [001] 123.456001:    1   kmem:", 812, true, true},
        Form{"  bash   812 123.456001:    1   kmem:", 812, false, true},
        Form{"  bash   812   1 0 00000000 00000000 [75bc5] 123456.001ms (+0.004ms): ", 812, true, true},
        Form{"  bash   812   1 8 00000000 0000001f [75bc5] 123456001 (+4): ", 812, true, false}}) {
    const ReadText found = read(form.head + kEvent + "\n");
    expect_allocation(found, form.head);
    EXPECT_EQ(found.events.at(0).tid, form.tid) << form.head;
    EXPECT_EQ(found.events.at(0).cpu, form.has_cpu ? 1u : 0u) << form.head;
    EXPECT_EQ(found.info.findings.count_of(Imperfection::unknown_cpus), form.has_cpu ? 0u : 1u) << form.head;
    EXPECT_EQ(found.info.clock.in_ns, form.has_time) << form.head;
    if (form.has_time) {
      EXPECT_EQ(found.events.at(0).time_ns, 123'456'001'000u) << form.head;
    }
  }
}

TEST(TextForms, AnEventWithoutATimeAmongOthersIsUnreadable) {
  const ReadText found = read(kEvent + "\n" + kHead + kEvent + "\n");
  EXPECT_EQ(found.events.size(), 1u);
  EXPECT_EQ(found.unreadable(), 1u);
  EXPECT_TRUE(found.info.clock.in_ns);
}

TEST(TextForms, OtherProgramsAndOptions) {
  for (const std::string& text :
       {kHead + "kmalloc: call_site=foo+0x1/0x9 (-2120941331) ptr=0xffff888001234500 (-131383898608448) "
                "bytes_req=0x3c (60) bytes_alloc=0x40 (64) gfp_flags=0xd40 (3392) node=0xffffffff (-1)\n",
        std::string("     0.052 ( 0.011 ms): bash/812 kmem:kmalloc(call_site: -2124952363, ptr: 0xffff888001234500, "
                    "bytes_req: 60, bytes_alloc: 64, gfp_flags: 3264, node: 4294967295)\n"),
        std::string("     0.052 bash/812 kmem:kmalloc(call_site: -2124952363, ptr: 0xffff888001234500, "
                    "bytes_req: 60, bytes_alloc: 64, gfp_flags: 3264, node: 4294967295)\n"),
        "     0.052 kmem:kmalloc:" + kFields + "\n", "     0.052 (         ): kmem:kmalloc:" + kFields + ")\n",
        kHead + "\x1B[01;31m\x1B[Kkmalloc\x1B[m\x1B[K: " + kFields + "\r\r\n"})
    expect_allocation(read(text), text);
}

// perf trace prints task names with blanks, omits the task if it traced a single thread, and quotes cache names.
TEST(TextForms, TasksOfPerfTrace) {
  const std::string fields = "(call_site: -2124952363, ptr: 0xffff888001234500, name: \"my cache\")\n";
  const ReadText found = read("     0.052 Web Content/77 kmem:kmem_cache_free" + fields +
                              "     0.053 (         ): Web Content/77 kmem:kmem_cache_free" + fields +
                              "     0.054 kmem:kmem_cache_free" + fields + "LOST 7 events!\n");
  ASSERT_EQ(found.events.size(), 3u);
  EXPECT_EQ(found.events[0].tid, 77);
  EXPECT_EQ(found.events[1].tid, 77);
  EXPECT_EQ(task_name(found.info.tasks, 77, found.events[0].time_ns), "Web Content");
  EXPECT_EQ(found.lost(), 7u);
}

// perf trace leaves out fields whose value is 0: the order of a single page, and the address of a free of NULL.
TEST(TextForms, FieldsOf0OfPerfTrace) {
  const ReadText found = read(
      "     0.001 bash/812 kmem:mm_page_alloc(pfn: 74565, gfp_flags: 3264, migratetype: 1)\n"
      "     0.002 bash/812 kmem:mm_page_free(pfn: 74565)\n"
      "     0.003 bash/812 kmem:kfree(call_site: 0xffffffff81234567)\n");
  ASSERT_EQ(found.events.size(), 3u);
  EXPECT_EQ(found.events[0].kind, EventKind::page_alloc);
  EXPECT_EQ(found.events[0].order, 0);
  EXPECT_EQ(found.events[1].address, 74565u);
  EXPECT_EQ(found.events[2].kind, EventKind::kfree);
  EXPECT_EQ(found.events[2].address, 0u);
}

// A task name has at most 15 characters, so any text before them is the prefix of a log.
TEST(TextForms, PrefixesAreNoPartOfATasksName) {
  const std::string line = "            bash-812     [001] .....   100.000001: " + kEvent + "\n";
  for (const char* const prefix : {"Nov 28 12:34:56 ", "JD> ", "2026-11-28T12:34:56Z stdout F ", "(1)[812:bash] "}) {
    const ReadText found = read(prefix + line);
    ASSERT_EQ(found.events.size(), 1u) << prefix;
    EXPECT_EQ(task_name(found.info.tasks, 812, found.events[0].time_ns), "bash") << prefix;
  }
}

// The kernel's old kmemtrace tracer, with the option kmem_minimalistic, prints two blanks at the start of a line.
TEST(TextForms, TheMinimalFormOfTheOldTracer) {
  const std::string text =
      "# tracer: kmemtrace\n#\n  +      K   4000   4096   000000d0   0xffff88003c8b4000     -1   copy_process\n"
      "  -      K                            0xffff88003c8b4000          do_exit\n";
  const ReadText found = read(text);
  ASSERT_EQ(found.events.size(), 2u);
  EXPECT_EQ(found.events[0].bytes_requested, 4000u);
  EXPECT_EQ(found.events[1].kind, EventKind::kfree);
}

TEST(TextForms, ImpossibleValuesAreUnreadable) {
  const std::string good = kHead + kEvent + "\n";
  for (const char* const sizes :
       {"bytes_req=-8 bytes_alloc=64", "bytes_req=18446744073709551608 bytes_alloc=18446744073709551608",
        "bytes_req=60 bytes_alloc=32", "bytes_req=8 bytes_alloc=281474976710657",
        "bytes_req=0xffffffffffffffff "
        "bytes_alloc=0xffffffffffffffff"}) {
    const ReadText found = read(good + kHead + "kmalloc: call_site=foo+0x1 ptr=ffff888001234600 " + sizes +
                                " gfp_flags=GFP_KERNEL node=-1\n");
    EXPECT_EQ(found.events.size(), 1u) << sizes;
    EXPECT_EQ(found.unreadable(), 1u) << sizes;
  }
  for (const char* const order : {"-1", "4294967296"}) {
    const ReadText found = read(good + kHead + "mm_page_free: page=ffffea0000010000 pfn=4096 order=" + order + "\n");
    EXPECT_EQ(found.events.size(), 1u) << order;
    EXPECT_EQ(found.unreadable(), 1u) << order;
  }
}

// The kernel prints no pointer for a failed allocation of percpu memory.
TEST(TextForms, FailedPercpuAllocations) {
  const ReadText found = read(kHead + "percpu_alloc_percpu_fail: reserved=0 is_atomic=0 size=4096 align=8\n" + kHead +
                              "percpu_alloc_percpu: reserved=0 is_atomic=0 size=64 align=8\n");
  ASSERT_EQ(found.events.size(), 1u);
  EXPECT_EQ(found.events[0].kind, EventKind::percpu_alloc);
  EXPECT_EQ(found.events[0].address, 0u);
  EXPECT_EQ(found.events[0].bytes_requested, 4096u);
  EXPECT_EQ(found.unreadable(), 1u) << "the second line was cut off";
}

// People copy traces into comments of source code, and into files in Latin-1.
TEST(TextForms, MarksOfCommentsAndBlanksInLatin1) {
  for (const char* const mark : {"// ", "  * ", "\xA0\xA0"}) {
    const std::string text = mark + kHead + kEvent + "\n";
    const ReadText found = read(text);
    expect_allocation(found, text);
    EXPECT_EQ(task_name(found.info.tasks, 812, 123'456'001'000), "bash") << text;
  }
}

TEST(TextForms, LinesThatMailsWrapped) {
  const std::string whole = kHead + kEvent;
  for (std::size_t at = whole.find("kmalloc"); at != std::string::npos; at = whole.find(' ', at + 1)) {
    if (whole[at - 1] != ' ' && whole[at] != ' ') continue;
    for (const char* const start : {"", "> ", "   "}) {
      const std::string text =
          start + whole.substr(0, at) + "\n" + start + whole.substr(whole[at] == ' ' ? at + 1 : at);
      const ReadText found = read(text + "\n" + start + kHead + "kfree: call_site=foo+0x1 ptr=ffff888001234500\n");
      ASSERT_EQ(found.events.size(), 2u) << text;
      EXPECT_EQ(found.events[0].bytes_allocated, 64u) << text;
      EXPECT_EQ(found.events[0].node, kNoNode) << text;
      EXPECT_EQ(found.unreadable(), 0u) << text;
    }
  }
  const ReadText thrice = read(kHead + "kmalloc: call_site=foo+0x1/0x9\n[ext4] ptr=ffff888001234500 bytes_req=60\n" +
                               "bytes_alloc=64 gfp_flags=GFP_KERNEL\nnode=-1\n");
  expect_allocation(thrice, "in four lines");
}

// A terminal cuts lines at its width, also inside numbers.
TEST(TextForms, LinesThatATerminalSplit) {
  for (const std::size_t width : {64u, 72u, 80u, 100u, 132u})
    for (const char* const start : {"", "> ", "> >> "})
      for (const char* const end : {"\n", "\r\n"}) {
        std::string text;
        for (int i = 0; i < 5; ++i)
          for (std::string line = kHead + kEvent; !line.empty(); line.erase(0, width))
            text.append(start).append(line.substr(0, width)).append(end);
        const ReadText found = read(text);
        ASSERT_EQ(found.events.size(), 5u) << text;
        for (const Event& event : found.events) {
          EXPECT_EQ(event.address, 0xffff888001234500) << text;
          EXPECT_EQ(event.bytes_requested, 60u) << text;
          EXPECT_EQ(event.bytes_allocated, 64u) << text;
        }
        EXPECT_EQ(found.unreadable(), 0u) << text;
      }
}

// Stacks follow events whose lines all have the same length. The lines of a stack must not be joined to the line of the
// event.
TEST(TextForms, LinesOfOneLengthAreNotSplit) {
  std::string text;
  for (int i = 0; i < 5; ++i) text += kHead + kEvent + "\n => kmalloc+0x1/0x2\n => foo+0x1/0x9\n";
  const ReadText found = read(text);
  EXPECT_EQ(found.events.size(), 5u);
  EXPECT_EQ(found.unreadable(), 0u);
}

// A long line is not joined to the cut line before it, because the joined copy might need as much memory as the whole
// file.
TEST(TextForms, LongLinesContinueNoEvent) {
  std::string colours;
  for (unsigned i = 0; i < 8192; ++i) colours += "\x1B[m";
  const ReadText found = read(kHead + "kmalloc: call_site=foo+0x1/0x9 ptr=ffff888001234500\nbytes_req=60 " + colours +
                              "bytes_alloc=64\n" + kHead + kEvent + "\n");
  EXPECT_EQ(found.events.size(), 1u);
  EXPECT_EQ(found.unreadable(), 2u);
}

TEST(TextForms, OtherLinesStayApart) {
  const ReadText found =
      read(kHead + "kmalloc: call_site=foo+0x1/0x9 ptr=ffff\n888001234500 bytes_req=60 bytes_alloc=64 gfp_flags=0\n" +
           kHead + kEvent + "\n");
  EXPECT_EQ(found.events.size(), 1u);
  EXPECT_EQ(found.unreadable(), 2u);
}

TEST(TextForms, EntitiesAndBlanksOfWebPages) {
  const ReadText found = read(
      "\xC2\xA0\xC2\xA0&lt;...&gt;-812\t[001] d.h1.\t123.456001: kmalloc: call_site=foo+0x1/0x9\t"
      "ptr=ffff888001234500&nbsp;bytes_req=60\xC2\xA0"
      "bytes_alloc=64 gfp_flags=GFP_KERNEL|__GFP_ZERO "
      "node=-1\n");
  expect_allocation(found, "entities");
  EXPECT_EQ(found.events.at(0).tid, 812);
}

// Perfetto prints pointers in decimal.
TEST(TextForms, PointersMayBeDecimal) {
  const ReadText found = read(kHead +
                              "kmalloc: call_site=18446743801035712396 ptr=18446743800234561792 bytes_req=60 "
                              "bytes_alloc=64 gfp_flags=3264\n" +
                              kHead + "kfree: call_site=18446743801035712396 ptr=18446743800234561792\n");
  ASSERT_EQ(found.events.size(), 2u);
  EXPECT_EQ(found.events[0].address, 18446743800234561792u);
  EXPECT_EQ(found.events[1].address, 18446743800234561792u);
  EXPECT_EQ(found.info.tables.call_sites[found.events[0].call_site.value], 18446743801035712396u);
  EXPECT_EQ(found.info.machine.word_bits, 64u);
  EXPECT_EQ(read(kHead + "kfree: call_site=3221234567 ptr=3489660928\n").events.at(0).address, 3489660928u);
}

// Mails in quoted-printable break long lines within words.
TEST(TextForms, MailsInQuotedPrintable) {
  const ReadText found = read("> " + kHead +
                              "kmalloc: call_site=3Dfoo+0x1/0x9 ptr=3Dffff8880012=\n> 34500 "
                              "bytes_req=3D60 bytes_alloc=3D64 gfp_flags=3DGFP_KERNEL node=3D-=\r\n1=20\n");
  expect_allocation(found, "quoted-printable");
}

TEST(TextForms, TextWithoutFieldsIsExplained) {
  const auto message = [](const std::string& text) {
    try {
      read(text);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const std::string header = "# tracer: nop\n#\n";
  EXPECT_NE(message(header + "18204 1 65416593053928 type: 658\n").find("raw, hex or bin"), std::string::npos);
  EXPECT_NE(message("0000471c 00000001 00003b7efcca98e8 type: 658\n").find("raw, hex or bin"), std::string::npos);
  EXPECT_NE(message(header + std::string("\0\1", 2)).find("raw, hex or bin"), std::string::npos);
  EXPECT_NE(message("123.456001: " + kFields + "\n").find("bytes_req=60"), std::string::npos);
  EXPECT_NE(message("some text: type: 5\n").find("not a trace in a known format"), std::string::npos);
}

TEST(TextForms, LossesOfSeveralFilesAreAdded) {
  const std::string one =
      "# tracer: nop\n#\n# entries-in-buffer/entries-written: 1/151   #P:2\n#\n" + kHead + kEvent + "\n";
  EXPECT_EQ(read(one + one).lost(), 300u);
}

// -- web pages ----------------------------------------------------------------------------------------------------

TEST(TextForms, TagsOfWebPagesAreRemoved) {
  for (const std::string& text : {
           "<span class=\"c1\">" + kHead + "</span><b>kmalloc</b>: " + kFields + "<br>\n",
           "<code>" + kHead + kEvent + "</code>\n",
           "<tr><td>bash-812</td><td>[001]</td><td>d.h1.</td><td>123.456001:</td><td>" + kEvent + "</td></tr>\n",
           "<!DOCTYPE html><html><body><div>A trace:</div><div>" + kHead + "<i>kmalloc</i>: " + kFields +
               "</div></body></html>\n",
           "<html><pre><span>" + kHead + "</span>" + kEvent + "\n</pre></html>\n",
       })
    expect_allocation(read(text), text);
  const ReadText two = read(kHead + kEvent + "<br>" + kHead + kEvent + "<br />");
  EXPECT_EQ(two.events.size(), 2u);
  EXPECT_EQ(two.unreadable(), 0u);
}

TEST(TextForms, NamesInAngleBracketsAreNoTags) {
  const ReadText found = read("          <idle>-0       [001] d.h1.   123.456001: " + kEvent + "</span>\n" +
                              "           <...>-812     [001] d.h1.   123.456002: " + kEvent + "\n");
  ASSERT_EQ(found.events.size(), 2u);
  EXPECT_EQ(found.events[0].tid, 0);
  EXPECT_EQ(found.events[1].tid, 812);
}

// -- buffers ------------------------------------------------------------------------------------------------------

// trace-cmd prints the name of the buffer before a loss, and not before the event after the loss.
TEST(TextForms, EventsOfOneBuffer) {
  const std::string text = "     cpus=2\nfoo: cpus=2\n     " + kHead + kEvent + "\nfoo: " + kHead + kEvent +
                           "\nfoo: CPU:1 [12 EVENTS DROPPED]\n" + kHead + kEvent + "\n     " + kHead + kEvent + "\n";
  const auto read_buffer = [&text](std::optional<std::string> buffer) {
    OpenOptions options;
    options.buffer = std::move(buffer);
    const auto source = open_trace(
        TraceFile{"a text", {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, nullptr}, options);
    ReadText read;
    for (EventBatch batch; source->read(batch);) read.events.insert(read.events.end(), batch.begin(), batch.end());
    read.info = source->info();
    return read;
  };
  const ReadText all = read_buffer({});
  EXPECT_EQ(all.events.size(), 4u);
  EXPECT_EQ(all.lost(), 12u);
  EXPECT_EQ(all.info.recording.buffers, (std::vector<std::string>{"", "foo"}));
  const ReadText foo = read_buffer("foo");
  EXPECT_EQ(foo.events.size(), 2u);
  EXPECT_EQ(foo.lost(), 12u);
  EXPECT_EQ(foo.info.recording.buffers, std::vector<std::string>{"foo"});
  const ReadText top = read_buffer("");
  EXPECT_EQ(top.events.size(), 2u);
  EXPECT_EQ(top.lost(), 0u);
  EXPECT_THROW(read_buffer("bar"), Error);
}

}  // namespace
}  // namespace kmt
