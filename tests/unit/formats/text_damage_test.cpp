// SPDX-License-Identifier: GPL-2.0-or-later
// Tests damaged text traces: lines that start or end in the middle, lost line breaks, and lines that are there twice. A
// damaged line must be read completely or be counted as unreadable.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "formats/registry.hpp"

namespace kmt {
namespace {

struct ReadText {
  std::vector<Event> events;
  TraceInfo info;
  std::uint64_t count_of(Imperfection kind) const { return info.findings.count_of(kind); }
  std::uint64_t unreadable() const { return count_of(Imperfection::unreadable_line); }
};

ReadText read(const std::string& text) {
  const auto source =
      open_trace(TraceFile{"a text", {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, nullptr});
  ReadText read;
  for (EventBatch batch; source->read(batch);) read.events.insert(read.events.end(), batch.begin(), batch.end());
  read.info = source->info();
  return read;
}

std::size_t memory_events(const ReadText& text) {
  std::size_t count = 0;
  for (const Event& event : text.events) count += event.kind == EventKind::other ? 0 : 1;
  return count;
}

// An event of bash-812, as ftrace prints it, without a line end. `second` is 100 to 109.
std::string at(unsigned second, const std::string& event) {
  return "            bash-812     [001] d.h1.   " + std::to_string(second) + ".000001: " + event;
}
std::string kmalloc(unsigned number, const std::string& flags = "GFP_KERNEL") {
  return "kmalloc: call_site=foo+0x1/0x9 ptr=ffff8880012" + std::to_string(34500 + number) +
         " bytes_req=60 bytes_alloc=64 gfp_flags=" + flags + " node=-1 accounted=false";
}
std::string kfree(unsigned number) {
  return "kfree: call_site=bar+0x1/0x9 ptr=ffff8880012" + std::to_string(34500 + number);
}

TEST(TextDamage, AFirstLineThatStartsInsideItsTime) {
  const std::string rest = at(101, kmalloc(1)) + "\n" + at(102, kfree(1)) + "\n";
  for (const char* const start : {"00.000001: ", "0.000001: ", "2     [001] d.h1.   100.000001: "}) {
    const ReadText found = read(start + kmalloc(0) + "\n" + rest);
    ASSERT_EQ(found.events.size(), 2u) << start;
    EXPECT_EQ(found.events[0].time_ns, 101'000'001'000u) << start;
    EXPECT_EQ(found.unreadable(), 1u) << start;
    EXPECT_EQ(found.count_of(Imperfection::unknown_cpus), 0u) << start;
  }
  // The CPU before the time shows that the time is complete.
  const ReadText whole = read("[001] d.h1.   100.000001: " + kmalloc(0) + "\n" + rest);
  EXPECT_EQ(whole.events.size(), 3u);
  EXPECT_EQ(whole.unreadable(), 0u);
}

TEST(TextDamage, AFirstTimeIsFarFromTheOthers) {
  const auto trace = [](const char* first, const char* second) {
    return read(std::string(first) + ": kmem:" + kmalloc(0) + "\n" + second + ": kmem:" + kmalloc(1) + "\n");
  };
  EXPECT_EQ(trace("3.000001", "123.000002").unreadable(), 1u);
  EXPECT_EQ(trace("03.000001", "103.000002").unreadable(), 1u);
  EXPECT_EQ(trace("99.000001", "101.000002").unreadable(), 0u);
  EXPECT_EQ(trace("0.000001", "2.000002").unreadable(), 0u);
}

TEST(TextDamage, AFirstLineThatStartsInsideTheName) {
  const ReadText found = read("sh-812     [001] d.h1.   100.000001: " + kmalloc(0) + "\n" + at(101, kfree(0)) + "\n");
  ASSERT_EQ(found.events.size(), 2u);
  EXPECT_EQ(found.events[0].tid, 812);
  EXPECT_EQ(task_name(found.info.tasks, 812, 100'000'001'000), "bash");
}

TEST(TextDamage, AMessageWithoutLineBreak) {
  for (const std::string message :
       {"tracing_mark_write: B|812|foo", "my_init: no: newline", "bputs: x", "kfree <-foo",
        "sched_wakeup: comm=foo pid=1 prio=120 target_cpu=001", "0: a message with several words"}) {
    const ReadText found = read(at(100, kmalloc(0)) + "\n" + at(101, message) + at(102, kfree(0)) + "\n");
    EXPECT_EQ(memory_events(found), 2u) << message;
    EXPECT_EQ(found.events.back().kind, EventKind::kfree) << message;
    EXPECT_EQ(found.events.back().time_ns, 102'000'001'000u) << message;
    EXPECT_EQ(found.unreadable(), 0u) << message;
  }
  // Messages may quote older events.
  const ReadText quoted = read(at(103, kmalloc(0)) + "\n" + at(104, "print: ") + "x" + at(102, kfree(0)) + "\n");
  EXPECT_EQ(memory_events(quoted), 1u);
  EXPECT_EQ(quoted.unreadable(), 1u);
  // An entry of the function tracer may lack the caller.
  const ReadText function = read(at(100, kmalloc(0)) + "\n" + at(101, "kfree") + at(102, kfree(0)) + "\n");
  EXPECT_EQ(memory_events(function), 2u);
  EXPECT_EQ(function.unreadable(), 1u);
  EXPECT_EQ(function.info.recording.buffers, std::vector<std::string>{""});
}

TEST(TextDamage, APointerThatIsCutOff) {
  const auto trace = [](const std::string& prefix, const std::string& pointer) {
    std::string text;
    for (unsigned i = 0; i < 3; ++i)
      text += at(100 + i, "kfree: call_site=bar+0x1/0x9 ptr=" + prefix + "ffff88800123450" + std::to_string(i)) + "\n";
    return read(text + at(103, "kfree: call_site=bar+0x1/0x9 ptr=" + pointer) + "\n");
  };
  for (const char* const pointer : {"ffff8880", "ffff888", "ff", "12345678", "ffff88800123450"})
    EXPECT_EQ(trace("", pointer).unreadable(), 1u) << pointer;
  EXPECT_EQ(trace("", "0000000012345678").unreadable(), 0u);
  for (const char* const pointer : {"0xffff8880", "0xff", "0xffff88800123450"})
    EXPECT_EQ(trace("0x", pointer).unreadable(), 1u) << pointer;
  for (const char* const pointer : {"0x0", "0x10"}) EXPECT_EQ(trace("0x", pointer).unreadable(), 0u) << pointer;
}

TEST(TextDamage, AnEventWithoutItsEnd) {
  const std::string whole = at(100, kmalloc(0)) + "\n" + at(101, kmalloc(1)) + "\n";
  const std::string event = at(102, kmalloc(2));
  for (const char* const end : {" accounted", " node", " gfp_flags", " bytes_alloc"}) {
    const ReadText found = read(whole + event.substr(0, event.find(end)) + "\n" + at(103, kfree(0)) + "\n");
    EXPECT_EQ(found.events.size(), 3u) << end;
    EXPECT_EQ(found.unreadable(), 1u) << end;
  }
  // Text after the event is no damage.
  EXPECT_EQ(read(whole + event + " <- this=one\n").unreadable(), 0u);
}

TEST(TextDamage, FlagsThatAreCutOff) {
  const std::string whole = at(100, "mm_page_alloc: page=ffffea0000000040 pfn=0x1 order=0 migratetype=0 gfp_flags=");
  EXPECT_EQ(read(whole + "GFP_KERNEL|__GFP_ZERO\n").unreadable(), 0u);
  EXPECT_EQ(read(whole + "GFP_KERNEL|__GFP_BRANDNEW\n").unreadable(), 0u);
  for (const char* const flags : {"GFP_KER", "GFP_KERNEL|", "GFP_KERNEL|__GFP_", "GFP_KERNEL|__GFP_ZER", "GF"})
    EXPECT_EQ(read(whole + flags + "\n" + whole + "GFP_KERNEL\n").unreadable(), 1u) << flags;
}

TEST(TextDamage, WordsThatWereWrapped) {
  const std::string event = at(100, kmalloc(0, "GFP_KERNEL|__GFP_ZERO"));
  for (const char* const word : {"KERNEL|", "|__GFP_Z", "__GFP_Z", "ZERO", "=ffff", "ffff88", "=GFP", "=60"}) {
    std::string text = event;
    text.insert(text.find(word), "\n");
    const ReadText found = read(text + "\n" + at(101, kmalloc(1)) + "\n");
    ASSERT_EQ(found.events.size(), 2u) << text;
    EXPECT_EQ(found.unreadable(), 0u) << text;
    EXPECT_EQ(found.events[0].address, 0xffff888001234500u) << text;
    EXPECT_EQ(found.events[0].bytes_requested, 60u) << text;
    EXPECT_NE(found.events[0].gfp_flags, found.events[1].gfp_flags) << text;
  }
}

TEST(TextDamage, CopiesThatOverlap) {
  std::vector<std::string> lines;
  for (unsigned i = 0; i < 4; ++i) lines.push_back(at(100 + i, kmalloc(i)) + "\n");
  for (unsigned i = 0; i < 4; ++i) lines.push_back(at(104 + i, kfree(i)) + "\n");
  const auto join = [&lines](std::vector<std::size_t> order) {
    std::string text;
    for (const std::size_t i : order) text += lines[i];
    return text;
  };
  const std::string header = "# tracer: nop\n#\n# entries-in-buffer/entries-written: 8/8   #P:1\n#\n";
  const std::string whole = "cpus=1\n" + join({0, 1, 2, 3, 4, 5, 6, 7});
  for (const std::string& text :
       {whole + whole, header + join({0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7}),
        join({0, 1, 2, 3, 4, 2, 3, 4, 5, 6, 7}),
        header + join({0, 1, 2, 3, 4, 5, 6, 7}) + header + join({0, 1, 2, 3, 4, 5, 6, 7}),
        header + join({0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7}), join({0, 1, 2, 2, 3, 4, 5, 6, 7})}) {
    const ReadText found = read(text);
    EXPECT_EQ(found.events.size(), 8u) << text;
    EXPECT_GE(found.count_of(Imperfection::repeated_lines), 1u) << text;
    EXPECT_EQ(found.count_of(Imperfection::time_goes_backward), 0u) << text;
    EXPECT_EQ(found.count_of(Imperfection::truncated_file), 0u) << text;
  }
  // The latest event of each CPU may be the only one that is repeated.
  lines[3].replace(lines[3].find("[001]"), 5, "[000]");
  EXPECT_EQ(read(join({0, 1, 2, 3, 2, 3, 4, 5, 6, 7})).events.size(), 8u);
  EXPECT_EQ(read(header + join({0, 1, 2, 3, 0, 1, 2, 3})).count_of(Imperfection::truncated_file), 1u) << "4 of 8";
  // A copy may be the last line before the lines of another CPU.
  std::string other = at(90, kmalloc(9)) + "\n";
  other.replace(other.find("[001]"), 5, "[000]");
  EXPECT_EQ(read(join({7, 2, 7}) + other).events.size(), 3u);
  // Equal times are no sign of copies. Without frees, identical allocations may follow each other.
  EXPECT_EQ(read(join({0, 0, 1, 2})).count_of(Imperfection::repeated_lines), 0u);
  const std::string null = at(107, "kfree: call_site=bar+0x1/0x9 ptr=(null)") + "\n";
  EXPECT_EQ(read(join({0, 1, 4, 5}) + null + null).count_of(Imperfection::repeated_lines), 0u);
}

TEST(TextDamage, LinesOfProgramText) {
  const std::string free = at(100, "kmem_cache_free: call_site=bar+0x1/0x9 ptr=ffff888001234500 name=dentry");
  for (const char* const end : {";", "\\", "\"", "\",", "\\n\",", " \\", "';", "$", "\\n\" \\"}) {
    const ReadText found = read((std::string(end).find('"') == std::string::npos ? "" : "\"") + free + end + "\n");
    ASSERT_EQ(found.events.size(), 1u) << end;
    EXPECT_EQ(found.info.tables.cache_names.at(found.events[0].cache.value), "dentry") << end;
    EXPECT_EQ(task_name(found.info.tasks, 812, found.events[0].time_ns), "bash") << end;
  }
}

TEST(TextDamage, ACallSiteOfZero) {
  for (const char* const site : {"0", "0x0", "0000000000000000"}) {
    const ReadText found = read(at(100, std::string("kfree: call_site=") + site + " ptr=ffff888001234500") + "\n");
    EXPECT_EQ(found.events.size(), 1u) << site;
    EXPECT_EQ(found.unreadable(), 0u) << site;
  }
}

TEST(TextDamage, LineEndsAndBytes) {
  const std::string lines = at(100, kmalloc(0)) + "\n" + at(101, kmalloc(1)) + "\n" + at(102, kfree(0)) + "\n";
  std::string carriage_returns = lines;
  for (char& c : carriage_returns) c = c == '\n' ? '\r' : c;
  EXPECT_EQ(read(carriage_returns).events.size(), 3u);
  EXPECT_EQ(read(carriage_returns).count_of(Imperfection::truncated_file), 0u);
  std::string zeros = lines;
  zeros.insert(lines.find('\n') + 1, 5, '\0');
  EXPECT_EQ(read(zeros).events.size(), 3u);
  EXPECT_EQ(read(zeros).count_of(Imperfection::truncated_file), 1u);
  std::string json = "{\"id\": 1, \"log\": \"";
  for (const char c : lines) json += c == '\n' ? std::string("\\n") : std::string(1, c);
  EXPECT_EQ(read(json + "\"}").events.size(), 3u);
}

}  // namespace
}  // namespace kmt
