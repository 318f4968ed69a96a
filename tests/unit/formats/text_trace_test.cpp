// SPDX-License-Identifier: GPL-2.0-or-later
// Tests text traces. Unreadable parts must be reported, and the memory for data must be bounded.
#include <chrono>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "analysis/report/check.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "formats/registry.hpp"
#include "formats/text/reader.hpp"
#include "support/checked_sink.hpp"
#include "trace/tasks/processes.hpp"

namespace kmt {
namespace {

struct ReadText {
  std::vector<Event> events;
  TraceInfo info;
  std::uint64_t unreadable() const { return info.findings.count_of(Imperfection::unreadable_line); }
};

TraceFile file_of(const std::string& text) {
  return {"a text", {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, nullptr};
}

ReadText read(const std::string& text) {
  const auto source = open_trace(file_of(text));
  ReadText read;
  for (EventBatch batch; source->read(batch);) read.events.insert(read.events.end(), batch.begin(), batch.end());
  read.info = source->info();
  return read;
}

std::string line(const std::string& fields, const char* head = "sh-148 [000] d..1. 5.000001: kmalloc: ") {
  return head + fields + '\n';
}

const std::string kWhole = "call_site=foo+0x1/0x9 ptr=ffff888001234500 bytes_req=8 bytes_alloc=8 gfp_flags=GFP_KERNEL";

TEST(TextTrace, UnreadableEventLinesAreCounted) {
  for (const std::string& bad :
       {line(kWhole, "sh-148 [000] d..1. 5.000002: kmalloc "), line("", "sh-148 [000] d..1. 5.0"),
        line("", "sh-148 [000] d..1."), line("", "sh-148 [000] d..1. 5.000003:"),
        line(kWhole, "sh-148 [00x] d..1. 5.000003: kmalloc: "), line(kWhole, "sh-148 [000] 5.00x003: kmalloc: "),
        line(kWhole, "sh-148 [000] d..1. 18446744074.5: kmalloc: "), line(kWhole + std::string(20'000, ' '))}) {
    const ReadText found = read(line(kWhole) + bad);
    EXPECT_EQ(found.events.size(), 1u) << bad.substr(0, 100);
    EXPECT_EQ(found.unreadable(), 1u) << bad.substr(0, 100);
  }
}

// Lines as `trace_pipe`, trace-cmd report and perf script print them.
TEST(TextTrace, TasksHaveStartsAndEnds) {
  const ReadText found = read(
      "sh-100 [000] d..1. 5.000000: task_newtask: pid=200 comm=my sh clone_flags=1200000 oom_score_adj=0\n"
      "sh-100 [000] d..1. 5.000001: sched_process_fork: comm=my sh pid=100 child_comm=my sh child_pid=200\n"
      "my sh-200 [001] d..1. 5.000100: task_newtask: pid=201 comm=my sh clone_flags=3d0f00 oom_score_adj=0\n"
      "my sh 200 [001] 5.000150: sched:sched_process_exec: filename=/usr/bin/the make pid=200 old_pid=200\n"
      "the make-200 [001] d..1. 5.000200: sched_process_fork: comm=the make pid=200 child_comm=the make child_pid=202\n"
      "cc1-202 [000] d..1. 5.000250: task_rename: oldcomm=the make newcomm=cc1 oom_score_adj=0\n" +
      line(kWhole, "cc1-202 [000] d..1. 5.000300: kmalloc: "));
  EXPECT_EQ(found.unreadable(), 0u);
  ASSERT_EQ(found.events.size(), 7u);
  const TraceInfo& info = found.info;
  EXPECT_EQ(info.tables.event_types[found.events[1].type.value].system, "sched");
  const auto at = [&info](std::int32_t tid) { return process_at(info.tasks, tid, 5'000'300'000); };
  EXPECT_EQ(oldest_ancestor(info.tasks, at(202)).pid, 100);
  EXPECT_EQ(at(201).pid, 200) << "a thread";
  EXPECT_FALSE(info.tasks.lives.is_used_again(200));
  EXPECT_EQ(task_name(info.tasks, 200, 5'000'120'000), "my sh");
  EXPECT_EQ(task_name(info.tasks, 200, 5'000'160'000), "the make");
  EXPECT_EQ(task_name(info.tasks, 202, 5'000'210'000), "the make");
  EXPECT_EQ(task_name(info.tasks, 202, 5'000'300'000), "cc1");
  EXPECT_EQ(
      read("sh-100 [000] d..1. 5.000000: task_newtask: pid=x comm=sh clone_flags=0 oom_score_adj=0\n").unreadable(),
      1u);
}

// `cat per_cpu/cpu*/trace` prints the events of one CPU after those of another.
TEST(TextTrace, CpusOneAfterTheOtherAreMerged) {
  const std::string object = "call_site=foo+0x1/0x9 ptr=ffff888001234500";
  const ReadText found =
      read("# tracer: nop\n" + line(kWhole, "sh-1 [000] d..1. 5.000000: kmalloc: ") +
           line(kWhole, "sh-1 [000] d..1. 7.000000: kmalloc: ") + "# tracer: nop\n" +
           line(object, "sh-2 [001] d..1. 6.000000: kfree: ") + line(object, "sh-2 [001] d..1. 8.000000: kfree: "));
  ASSERT_EQ(found.events.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(found.events[i].cpu, i % 2);
    EXPECT_EQ(found.events[i].kind, i % 2 == 0 ? EventKind::kmalloc : EventKind::kfree);
  }
  EXPECT_EQ(found.info.findings.count_of(Imperfection::time_goes_backward), 0u);
}

// Several rounds of `cat per_cpu/cpu*/trace`, with a clock that does not count nanoseconds.
TEST(TextTrace, CpusInSeveralRoundsAreMerged) {
  std::string text;
  for (unsigned round = 0; round < 5; ++round)
    for (unsigned cpu = 0; cpu < 2; ++cpu)
      for (unsigned i = 0; i < 8; ++i)
        text += line(kWhole, fmt::format("sh-1 [00{}] d..1. {}: kmalloc: ", cpu, 1000 * round + 10 * i + cpu).c_str());
  const ReadText found = read(text);
  ASSERT_EQ(found.events.size(), 80u);
  for (std::size_t i = 1; i < found.events.size(); ++i)
    EXPECT_LE(found.events[i - 1].time_ns, found.events[i].time_ns) << i;
}

// `trace_pipe` prints events as the CPUs deliver them. If the clocks of CPUs differ, the times of successive lines are
// out of order.
TEST(TextTrace, AFreeBeforeItsAllocationShowsUnequalClocks) {
  const auto early = [](const char* free) {
    const std::string other = "call_site=bar+0x1/0x9 ptr=ffff888001234a00";
    std::string text;
    for (const char* const head : {"sh-148 [000] d..1. 4.000000: kfree: ", "sh-149 [001] d..1. 4.000001: kfree: ",
                                   "sh-148 [000] d..1. 4.000002: kfree: ", "sh-149 [001] d..1. 4.000003: kfree: "})
      text += line(other, head);
    text += line(kWhole, "sh-148 [000] d..1. 5.020000: kmalloc: ") +
            line("call_site=bar+0x1/0x9 ptr=ffff888001234500", free);
    const auto source = open_trace(file_of(text));
    CheckAnalysis check(source->info());
    for (EventBatch batch; source->read(batch);) check.add(batch);
    return check.finish().findings.count_of(Imperfection::free_before_allocation);
  };
  EXPECT_EQ(early("sh-149 [001] d..1. 5.000001: kfree: "), 1u);
  EXPECT_EQ(early("sh-149 [001] d..1. 5.020001: kfree: "), 0u);
}

TEST(TextTrace, ALineWithoutAnEndWasCutOff) {
  const std::string all = line(kWhole) + line(kWhole);
  for (const std::size_t cut : {1u, 5u, 12u}) {
    const ReadText found = read(all.substr(0, all.size() - cut));
    EXPECT_EQ(found.events.size(), 1u) << cut;
    EXPECT_EQ(found.unreadable(), 1u) << cut;
  }
  EXPECT_EQ(read(line(kWhole) + "cpus=2").unreadable(), 0u);
}

TEST(TextTrace, AHeaderAloneIsATraceWithoutEvents) {
  const std::string header =
      "# tracer: nop\n#\n# entries-in-buffer/entries-written: 0/0   #P:3\n#\n#           TASK-PID     CPU#\n#\n";
  const ReadText empty = read(header);
  EXPECT_EQ(empty.events.size(), 0u);
  EXPECT_EQ(empty.info.machine.cpus, 3u);
  EXPECT_EQ(empty.unreadable(), 0u);
  EXPECT_EQ(read(header + line(kWhole)).events.size(), 1u);
  EXPECT_THROW(read(header + "what another tracer says\n"), Error);
  EXPECT_THROW(read("# entries\n#\n"), Error);
}

TEST(TextTrace, LinesOfOtherTracersAreSkipped) {
  const ReadText found = read(line(kWhole) + "# tracer: nop\ncpus=2\n => do_syscall_64\n\n" +
                              "\tffffffff81234567 kmem_alloc+0x17 ([kernel.kallsyms])\n" +
                              "sh-148 [000] d..1. 5.000003: what another tracer says\n");
  EXPECT_EQ(found.events.size(), 1u);
  EXPECT_EQ(found.unreadable(), 0u);
}

TEST(TextTrace, TheFunctionTracerHasEvents) {
  for (const char* const form : {"sh-148 [000] d.h1. 5.000003: do_sys_open <-sys_open\n",
                                 "sh-148 [000] d.h1. 5.000003: do_sys_open [fs](dfd=0x3, mode=0) <-sys_open\n",
                                 "sh-148 0d.h1. 5us : do_sys_open <-sys_open\n",
                                 "sh-148 [000] 5.000003: function: do_sys_open <-- sys_open\n"}) {
    const ReadText found = read(line(kWhole) + form);
    ASSERT_EQ(found.events.size(), 2u) << form;
    EXPECT_EQ(found.info.tables.event_types[found.events[1].type.value].name, "function") << form;
    EXPECT_EQ(found.unreadable(), 0u) << form;
  }
}

// Output of the function tracer with the options noprint-parent, sym-offset and sym-addr.
TEST(TextTrace, FunctionsWithoutCallers) {
  const std::string header = "# tracer: function\n#\n";
  for (const char* const form :
       {"vfs_read", "vfs_read+0x0/0x2a0", "vfs_read+0x0 <ffffffff81234567>", "vfs_read <ffffffff81234567>",
        "vfs_read [fs]", "vfs_read(file=0x12, count=3)", "vfs_read+0x0/0x2a0 <ffffffff81234567> <-ksys_read+0x6f/0xf0"})
    for (const char* const head : {"sh-148 [000] d..1. 5.000003: ", "sh-148 0d..1. 5us : "}) {
      const ReadText found = read(std::string(head) + form + "\n");
      ASSERT_EQ(found.events.size(), 1u) << form;
      EXPECT_EQ(found.info.tables.event_types[found.events[0].type.value].name, "function") << form;
      EXPECT_EQ(found.unreadable(), 0u) << form;
    }
  // Without the header, this may be an event that was cut off.
  EXPECT_EQ(read(header + "sh-148 [000] d..1. 5.000003: kfree\n").unreadable(), 0u);
  EXPECT_EQ(read(line(kWhole) + "sh-148 [000] d..1. 5.000003: kfree\n").unreadable(), 1u);
}

// All spellings of NULL: of kernels before and after 4.15, and of libtraceevent.
TEST(TextTrace, SpellingsOfNull) {
  for (const char* const null :
       {"          (null)", "  (null)", "(null)", "(nil)", "0x0", "0", "0000000000000000", "00000000"}) {
    const std::string ptr = std::string("call_site=foo+0x1/0x9 ptr=") + null;
    const ReadText found = read(line(ptr, "sh-148 [000] d..1. 5.000001: kfree: ") +
                                line(ptr + " bytes_req=8 bytes_alloc=16 gfp_flags=GFP_KERNEL"));
    ASSERT_EQ(found.events.size(), 2u) << null;
    EXPECT_EQ(found.events[0].address, 0u) << null;
    EXPECT_EQ(found.events[1].address, 0u) << null;
    EXPECT_EQ(found.events[1].bytes_allocated, 16u) << null;
    EXPECT_EQ(found.unreadable(), 0u) << null;
  }
}

TEST(TextTrace, APageThatIsNullIsAFailedAllocation) {
  const auto page = [](const std::string& fields) {
    const ReadText found =
        read(line(fields + " order=0 migratetype=0 gfp_flags=0", "sh-1 [000] .... 5.000001: mm_page_alloc: "));
    return found.events.at(0).address;
  };
  EXPECT_EQ(page("page=          (null) pfn=0"), kNoPage);
  EXPECT_EQ(page("page=  (null) pfn=4160749568"), kNoPage);
  EXPECT_EQ(page("page=(nil) pfn=0x0"), kNoPage);
  EXPECT_EQ(page("page=0000000000000000 pfn=0x0"), kNoPage);
  EXPECT_EQ(page("page=c1a2f3c0 pfn=61950"), 61950u);
  EXPECT_EQ(page("page=(____ptrval____) pfn=61950"), 61950u);
}

TEST(TextTrace, HiddenPointersCountButDoNotMatch) {
  struct Case {
    const char* pointer;
    unsigned word_bits;
  };
  for (const Case& one : {Case{"(____ptrval____)", 64}, Case{"(ptrval)", 32}, Case{"xxxxxxxxxxxxxxxx", 64}}) {
    const std::string ptr = std::string("call_site=foo+0x1/0x9 ptr=") + one.pointer;
    const std::string allocation = line(ptr + " bytes_req=8 bytes_alloc=16 gfp_flags=GFP_KERNEL");
    const ReadText found = read(allocation + allocation + line(ptr, "sh-148 [000] d..1. 5.000001: kfree: "));
    ASSERT_EQ(found.events.size(), 3u) << one.pointer;
    EXPECT_EQ(found.events[0].bytes_requested, 8u);
    EXPECT_NE(found.events[0].address, 0u);
    EXPECT_NE(found.events[0].address, found.events[1].address);
    EXPECT_NE(found.events[0].address, found.events[2].address);
    EXPECT_EQ(found.info.findings.count_of(Imperfection::hidden_pointers), 3u);
    EXPECT_EQ(found.info.machine.word_bits, one.word_bits) << one.pointer;
  }
}

TEST(TextTrace, UnreadableLinesAreQuoted) {
  const ReadText found = read(line(kWhole) + line("call_site=foo+0x1 ptr=zzzz bytes_req=8 bytes_alloc=8 gfp_flags=0"));
  for (const Finding& finding : found.info.findings.kept())
    if (finding.kind == Imperfection::unreadable_line) {
      EXPECT_NE(finding.detail.find("ptr=zzzz bytes_req=8"), std::string::npos) << finding.detail;
      return;
    }
  ADD_FAILURE();
}

// The first line of a copied text often lacks its start.
TEST(TextTrace, ALineWithoutAStartIsCounted) {
  const ReadText found = read("00001234500 bytes_req=8 bytes_alloc=8 gfp_flags=GFP_KERNEL\n" + line(kWhole));
  EXPECT_EQ(found.events.size(), 1u);
  EXPECT_EQ(found.unreadable(), 1u);
}

TEST(TextTrace, NamesOfBuffersAndMarksOfQuotesAreSkipped) {
  for (const char* const head : {"mem:            sh-148 [000] d..1. 5.000001: kmalloc: ",
                                 "> sh-148 [000] d..1. 5.000001: kmalloc: ", ">> sh-148 [000] 5.000001: kmalloc: "}) {
    const ReadText found = read(line(kWhole, head));
    ASSERT_EQ(found.events.size(), 1u) << head;
    EXPECT_EQ(task_name(found.info.tasks, 148, 5'000'001'000), "sh") << head;
  }
}

// A serial console or an editor may lose line breaks. A task name in 16 columns then shows where the next event starts.
TEST(TextTrace, EventsInOneLineAreSplit) {
  const std::string event = "kmalloc: " + kWhole;
  const std::string free = "kfree: call_site=foo+0x1/0x9 ptr=ffff888001234500";
  for (const char* const task : {"              sh-148 [000] d..1. ", "     Web Content-148 [000] d..1. "}) {
    const ReadText found =
        read(task + ("5.000001: " + event) + task + "5.000002: " + free + task + "5.000003: " + event + "\n");
    ASSERT_EQ(found.events.size(), 3u);
    EXPECT_EQ(found.events[1].kind, EventKind::kfree);
    EXPECT_EQ(found.events[2].time_ns, 5'000'003'000u);
    EXPECT_EQ(found.unreadable(), 0u);
    EXPECT_EQ(task_name(found.info.tasks, 148, 5'000'002'000), trim(std::string_view(task).substr(0, 16)));
  }
}

TEST(TextTrace, EventsInOneLineAreSplitAfterTheLastField) {
  const std::string free = "kfree: call_site=foo+0x1/0x9 ptr=ffff888001234500";
  const ReadText found =
      read("sh-148 [000] d..1. 5.000001: " + free + " Web Content-149 [000] d..1. 5.000002: kmalloc: " + kWhole +
           " sh-148 [000] d..1. 5.000003: " + free + "\n");
  ASSERT_EQ(found.events.size(), 3u);
  EXPECT_EQ(found.unreadable(), 0u);
  EXPECT_EQ(task_name(found.info.tasks, 149, 5'000'002'000), "Web Content");
}

TEST(TextTrace, DamagedEventsInOneLineAreCounted) {
  for (const char* const first : {"kfree: call_site=f ptr=ffff888001234500sh-148", "kfree: call_site=f pt sh-149"}) {
    const ReadText found = read(line(kWhole) + "sh-148 [000] d..1. 5.000001: " + first +
                                " [000] d..1. 5.000002: kmalloc: " + kWhole + "\n");
    EXPECT_EQ(found.unreadable(), 1u) << first;
    const bool is_second_read = std::string_view(first).ends_with("149");
    EXPECT_EQ(found.events.size(), is_second_read ? 2u : 1u) << first;
    if (is_second_read) {
      EXPECT_EQ(task_name(found.info.tasks, 149, 5'000'002'000), "sh");
    }
  }
}

TEST(TextTrace, ASecondEventWithoutATaskIsCounted) {
  for (const char* const task : {"-12", "   -12", "---", "--12"}) {
    const ReadText found = read(line(kWhole) + "sh-148 [000] d..1. 5.000001: kfree: " + task +
                                " [000] d..1. 5.000002: kfree: call_site=f ptr=ffff888001234500\n");
    EXPECT_EQ(found.events.size() + found.unreadable(), 2u) << task;
  }
}

// A line of fields alone, as `perf script -F trace` prints it, is not the rest of the event above it.
TEST(TextTrace, FieldsWithoutAnEventAreCounted) {
  const ReadText found = read(line(kWhole) + "call_site=foo+0x1 ptr=ffff888001234500\n" + line(kWhole));
  EXPECT_EQ(found.events.size(), 2u);
  EXPECT_EQ(found.unreadable(), 1u);
}

TEST(TextTrace, InvalidValuesMakeALineUnreadable) {
  for (const char* const bad :
       {"call_site=foo+0x1 ptr=ffff888001234500 bytes_req=8xx bytes_alloc=8 gfp_flags=GFP_KERNEL",
        "call_site=foo+0x1 ptr=ffff888001234500 bytes_req=8 bytes_alloc=banana gfp_flags=GFP_KERNEL",
        "call_site=foo+0x1 ptr=zzzz bytes_req=8 bytes_alloc=8 gfp_flags=GFP_KERNEL",
        "call_site=foo+zz ptr=ffff888001234500 bytes_req=8 bytes_alloc=8 gfp_flags=GFP_KERNEL",
        "call_site=foo+0x1 ptr=ffff888001234500 bytes_req=8 bytes_alloc=8 gfp_flags=GFP_KE%NEL",
        "call_site=foo+0x1 ptr=ffff888001234500 bytes_req=8", "call_site=foo+0x1 ptr=ffff888001234500",
        "call_site=foo+0x1 ptr=ffff8880012345 bytes_req=8 bytes_alloc=8 gfp_flags=GFP_KERNEL"}) {
    const ReadText found = read(line(kWhole) + line(bad));
    EXPECT_EQ(found.events.size(), 1u) << bad;
    EXPECT_EQ(found.unreadable(), 1u) << bad;
  }
  // Lines that lack an optional field must still be read.
  const ReadText found = read(line(kWhole + " node=1") + line(kWhole));
  ASSERT_EQ(found.events.size(), 2u);
  EXPECT_EQ(found.events[0].node, 1);
  EXPECT_EQ(found.events[1].node, kNoNode);
}

TEST(TextTrace, TooManyFlagNamesAreReported) {
  for (const unsigned names : {31u, 40u}) {
    std::string text;
    for (unsigned i = 0; i < names; ++i)
      text +=
          line("call_site=f+0x1 ptr=ffff888001234500 bytes_req=8 bytes_alloc=8 gfp_flags=GFP_N" + std::to_string(i));
    const ReadText found = read(text);
    ASSERT_EQ(found.events.size(), names);
    for (const Event& event : found.events) EXPECT_NE(event.gfp_flags, 0u);
    EXPECT_EQ(found.info.findings.count_of(Imperfection::too_many_flag_names), names > 31 ? 1u : 0u);
    EXPECT_EQ(found.info.tables.gfp_flags.size(), std::min(names, 32u));
  }
}

TEST(TextTrace, FlagsInDecimalDigitsAreNumbers) {
  const ReadText found = read(line("call_site=f+0x1 ptr=ffff888001234500 bytes_req=8 bytes_alloc=8 gfp_flags=3264"));
  EXPECT_EQ(found.events.at(0).gfp_flags, 3264u);
}

TEST(TextTrace, TasksHaveTheirNamesOverTime) {
  const ReadText found =
      read(line(kWhole, "bash-148 [000] 5.000001: kmalloc: ") + line(kWhole, "bash-148 [000] 5.000002: kmalloc: ") +
           line(kWhole, "ls-148 [001] 5.000003: kmalloc: ") + line(kWhole, "<...>-148 [001] 5.000004: kmalloc: "));
  EXPECT_EQ(task_name(found.info.tasks, 148, 5'000'002'000), "bash");
  EXPECT_EQ(task_name(found.info.tasks, 148, 5'000'003'000), "ls");
  EXPECT_EQ(task_name(found.info.tasks, 148, 5'000'009'000), "ls");
}

// Lines with other text between time and event, as trace-cmd and perf print it, and lines in the format of the latency
// tracers.
TEST(TextTrace, OtherFormsOfLines) {
  struct Form {
    const char* head;
    unsigned cpu;
    std::uint64_t time_ns;
    std::uint8_t context;
  };
  for (const Form& form :
       {Form{"          sh-155   [001]     3.843227: (+175)   kmalloc:   ", 1, 3'843'227'000, 0},
        Form{"          sh-155   [001]     3.843227: (+  175)   kmalloc:   ", 1, 3'843'227'000, 0},
        Form{"          sh-155   [001]     3.843227:          kmalloc:   ", 1, 3'843'227'000, 0},
        Form{"perf   242 [001]    20.000588:          1              kmem:kmalloc: ", 1, 20'000'588'000, 0},
        Form{"perf   242    20.000588:              kmem:kmalloc: ", 0, 20'000'588'000, 0},
        Form{"a b 12/13    20.000588:          1              kmem:kmalloc: ", 0, 20'000'588'000, 0},
        Form{"trace-cm-154     12-0x1     3.843052: kmalloc:     ", 12, 3'843'052'000, 0},
        Form{"trace-cm-154     12..s..     3.843052: kmalloc:     ", 12, 3'843'052'000, Context::kSoftIrq},
        Form{"    bash-28633     1..... 40396406603us : kmalloc: ", 1, 40'396'406'603'000, 0},
        Form{"ksoftirq-22        1..s.. 40396413435us!: kmalloc: ", 1, 40'396'413'435'000, Context::kSoftIrq},
        Form{" my 1..... -7    0d.h1    5us+: kmalloc: ", 0, 5'000, Context::kHardIrq},
        // PREEMPT_RT before Linux 6.12
        Form{"sh-148 [001] d..h2.. 5.000003: kmalloc: ", 1, 5'000'003'000, Context::kHardIrq},
        Form{"sh-148 [001] d..s213 5.000003: kmalloc: ", 1, 5'000'003'000, Context::kSoftIrq},
        Form{"sh-148 [001] .....11 5.000003: kmalloc: ", 1, 5'000'003'000, 0}}) {
    const ReadText found = read(line(kWhole, form.head));
    ASSERT_EQ(found.events.size(), 1u) << form.head;
    EXPECT_EQ(found.events[0].kind, EventKind::kmalloc) << form.head;
    EXPECT_EQ(found.events[0].bytes_requested, 8u) << form.head;
    EXPECT_EQ(found.events[0].cpu, form.cpu) << form.head;
    EXPECT_EQ(found.events[0].time_ns, form.time_ns) << form.head;
    EXPECT_EQ(found.events[0].context, form.context) << form.head;
    EXPECT_TRUE(found.info.clock.in_ns) << form.head;
    const bool has_cpu = std::string(form.head).find("20.000588:") == std::string::npos ||
                         std::string(form.head).find('[') != std::string::npos;
    EXPECT_EQ(found.info.findings.count_of(Imperfection::unknown_cpus), has_cpu ? 0u : 1u) << form.head;
  }
}

TEST(TextTrace, LatencyFormatCountsOverwrittenEvents) {
  const ReadText found =
      read("# tracer: nop\n#\n# latency: 0 us, #1/53, CPU#0 | (M:PREEMPT(none) VP:0, KP:0, SP:0 HP:0 #P:4)\n" +
           line(kWhole, "    bash-28633     1..... 40396406603us : kmalloc: "));
  EXPECT_EQ(total_lost_events(found.info.losses), 52u);
  EXPECT_EQ(found.info.machine.cpus, 4u);
  EXPECT_EQ(found.info.findings.count_of(Imperfection::unknown_loss), 0u);
}

TEST(TextTrace, CompressionAndUtf16AreNamedInTheError) {
  for (const auto& [bytes, what] :
       {std::pair("\x1F\x8B\x08 x", "compressed with gzip"), std::pair("\x28\xB5\x2F\xFD x", "compressed with zstd"),
        std::pair("\xFF\xFEs", "UTF-16 text"), std::pair("\xFE\xFFs", "UTF-16 text")}) {
    try {
      read(bytes);
      ADD_FAILURE() << what;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
      EXPECT_FALSE(error.hint().empty());
    }
  }
}

TEST(TextTrace, AdjacentLossesAreMerged) {
  std::string text = line(kWhole);
  for (unsigned i = 0; i < 1000; ++i) text += "CPU:1 [EVENTS DROPPED]\n";
  for (unsigned i = 0; i < 1000; ++i) text += "CPU:0 [LOST 2 EVENTS]\n";
  const ReadText found = read(text + line(kWhole));
  ASSERT_EQ(found.info.losses.intervals.size(), 2u);
  EXPECT_FALSE(found.info.losses.intervals[0].count);
  EXPECT_EQ(found.info.losses.intervals[1].count, 2000u);
}

TEST(TextTrace, LargeLossesStayLarge) {
  const std::string half = "[LOST 9223372036854775808 EVENTS]\n";  // twice this number has 65 bits
  for (const unsigned second : {0u, 1u}) {
    const ReadText found =
        read(line(kWhole) + "CPU:0 " + half + "CPU:" + std::to_string(second) + " " + half + line(kWhole));
    EXPECT_EQ(total_lost_events(found.info.losses), UINT64_MAX) << second;
    EXPECT_EQ(found.info.findings.count_of(Imperfection::lost_events), UINT64_MAX) << second;
  }
}

TEST(TextTrace, ASingleLostEventIsCounted) {
  const auto detail = [](const std::string& mark) {
    const ReadText found = read(line(kWhole) + mark + line(kWhole));
    for (const Finding& finding : found.info.findings.kept())
      if (finding.kind == Imperfection::lost_events) return finding.detail;
    return std::string();
  };
  EXPECT_EQ(detail("CPU:0 [LOST 1 EVENTS]\n"), "1 event");
  EXPECT_EQ(detail("CPU:0 [LOST 2 EVENTS]\n"), "2 events");
  EXPECT_EQ(detail("CPU:0 [EVENTS DROPPED]\n"), "an unknown number of events");
}

// Many CPUs and long lines must be read in one pass. One pass for each CPU or bracket would take seconds.
TEST(TextTrace, IsReadInOnePass) {
  std::string text;
  for (unsigned i = 0; i < 16'000; ++i) {
    const std::string head = "sh-148 [" + std::to_string(i % 8000) + "] 5.000001: kmalloc: ";
    text += line(kWhole, head.c_str());
  }
  for (unsigned i = 0; i < 50; ++i) {
    for (unsigned j = 0; j < 5000; ++j) text += "[0]";
    text += '\n';
  }
  const auto begin = std::chrono::steady_clock::now();
  test::CheckedSink sink;
  Findings findings;
  text::read_records(file_of(text), sink, findings);
  sink.expect_ended();
  EXPECT_EQ(sink.records, 16'000u);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

}  // namespace
}  // namespace kmt
