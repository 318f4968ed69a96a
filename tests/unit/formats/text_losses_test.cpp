// SPDX-License-Identifier: GPL-2.0-or-later
// Tests that every event that a text trace lacks is reported: entries that only the header counts, and losses in the
// statistics of ring buffers.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "formats/registry.hpp"

namespace kmt {
namespace {

struct ReadText {
  std::size_t events = 0;
  TraceInfo info;
  std::uint64_t lost() const { return total_lost_events(info.losses); }
  std::uint64_t truncated() const { return info.findings.count_of(Imperfection::truncated_file); }
  std::string why_truncated() const {
    for (const Finding& finding : info.findings.kept())
      if (finding.kind == Imperfection::truncated_file) return finding.detail;
    return {};
  }
};

ReadText read(const std::string& text) {
  const auto source =
      open_trace(TraceFile{"a text", {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, nullptr});
  ReadText read;
  for (EventBatch batch; source->read(batch);) read.events += batch.size();
  read.info = source->info();
  return read;
}

std::string header(unsigned kept, unsigned written, unsigned cpus = 2) {
  return "# tracer: nop\n#\n# entries-in-buffer/entries-written: " + std::to_string(kept) + "/" +
         std::to_string(written) + "   #P:" + std::to_string(cpus) + "\n#\n";
}

std::string event(unsigned cpu) {
  return "            bash-812     [00" + std::to_string(cpu) +
         "] d.h1.   123.456001: kmalloc: call_site=foo+0x1/0x9 ptr=ffff888001234500 bytes_req=60 bytes_alloc=64 "
         "gfp_flags=GFP_KERNEL node=-1\n";
}

TEST(TextLosses, EntriesThatTheTextLacks) {
  const ReadText cut = read(header(100, 250) + event(0) + event(1));
  EXPECT_EQ(cut.events, 2u);
  EXPECT_EQ(cut.lost(), 248u) << "150 are overwritten, 98 are missing";
  EXPECT_EQ(cut.why_truncated(), "the header counts 100 entries, but the text has 2");
  const ReadText whole = read(header(2, 2) + event(0) + event(1));
  EXPECT_EQ(whole.lost(), 0u);
  EXPECT_EQ(whole.truncated(), 0u);
  // perf ftrace prints the header before the events are recorded.
  EXPECT_EQ(read(header(0, 0) + event(0)).lost(), 0u);
  // Documents indent their examples.
  EXPECT_EQ(read("    # entries-in-buffer/entries-written: 3/3   #P:2\n    " + event(0)).lost(), 2u);
}

// The file of a CPU without entries has the same header as those of the other CPUs.
TEST(TextLosses, ACpuMayHaveNoEntries) {
  const ReadText found = read(header(2, 2, 4) + event(0) + header(2, 2, 4) + header(2, 2, 4) + event(1));
  EXPECT_EQ(found.lost(), 0u);
  EXPECT_EQ(found.truncated(), 0u);
  EXPECT_EQ(read(header(2, 2, 4) + header(2, 2, 4) + event(1)).truncated(), 1u);
}

// `sort` moves the header after the entries.
TEST(TextLosses, TheHeaderMayBeLast) {
  EXPECT_EQ(read(event(0) + event(1) + header(2, 2)).lost(), 0u);
  EXPECT_EQ(read(event(0) + header(3, 3) + event(1)).lost(), 1u);
}

// The header counts entries of all kinds. A leaf call of function_graph counts as two entries, a stack as one.
TEST(TextLosses, EntriesOfAllKindsAreCounted) {
  const ReadText found =
      read(header(7, 7) + event(0) + "            bash-812     [000] d.h1.   123.456002: <stack trace>\n" +
           " => foo\n => bar\n" +
           "            bash-812     [001] d.h1.   123.456003: sched_switch: prev_comm=bash prev_pid=812\n" +
           "            bash-812     [001] d.h1.   123.456004: kfree <-foo\n" +
           "            bash-812     [001] d.h1.   123.456005: tracing_mark_write: first\nsecond\n" +
           "            bash-812     [001] d.h1.   123.456006: what another tracer says\n" +
           "            bash-812     [001] d.h1.   123.4x: kfree: call_site=foo ptr=0\n");
  EXPECT_EQ(found.lost(), 0u);
  EXPECT_EQ(found.truncated(), 0u);
  const std::string calls =
      "# tracer: function_graph\n#\n# function_graph latency trace v1.1.5\n"
      "# latency: 0 us, #6/6, CPU#0 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:4)\n"
      " 0)               |  f() {\n 0)               |    /* a message */\n 0)   0.412 us    |    g();\n"
      " 0)   1.412 us    |  }\n";
  EXPECT_EQ(read(calls + " 0)   1.412 us    |  } /* h */\n").lost(), 0u);
  const ReadText cut = read(calls);
  EXPECT_EQ(cut.lost(), 1u);
  EXPECT_EQ(cut.why_truncated(), "the header counts 6 entries of 4 CPUs, but the text has 5, all of CPU 0");
}

// The kernel counts the entries of all CPUs in the header of each file per_cpu/cpuN/trace.
TEST(TextLosses, FilesOfSingleCpus) {
  const std::string first = header(3, 13) + event(0), second = header(3, 13) + event(1) + event(1);
  const ReadText both = read(first + second);
  EXPECT_EQ(both.lost(), 10u);
  EXPECT_EQ(both.truncated(), 0u);
  const ReadText one = read(second);
  EXPECT_EQ(one.lost(), 11u);
  EXPECT_EQ(one.why_truncated(), "the header counts 3 entries of 2 CPUs, but the text has 2, all of CPU 1");
  // A surplus of one file does not hide what another lacks.
  EXPECT_EQ(read(header(3, 3) + event(0) + event(1) + header(1, 1) + event(0) + event(1)).lost(), 1u);
}

const std::string kStatistics =
    "Kernel buffer statistics:\n  Note: \"entries\" are the entries left in the kernel ring buffer and are not\n"
    "        recorded in the trace data. They should all be zero.\n\n"
    "CPU: 0\nentries: 0\noverrun: 20\ncommit overrun: 3\nbytes: 708\noldest event ts: 15572.878240\n"
    "now ts: 15572.894780\ndropped events: 4\nread events: 94\n\n"
    "CPU: 1\nentries: 0\noverrun: 500\ncommit overrun: 0\nbytes: 0\noldest event ts: 15572.878240\n"
    "now ts: 15572.894780\ndropped events: 0\nread events: 7\n\nCPU0 data recorded at offset=0x28f000\n";

TEST(TextLosses, StatisticsOfTraceCmd) {
  const ReadText found = read(kStatistics + "cpus=2\n" + event(0));
  EXPECT_EQ(found.events, 1u);
  EXPECT_EQ(found.lost(), 527u) << "20 + 3 + 4 on CPU 0, 500 on CPU 1";
  EXPECT_EQ(found.info.findings.count_of(Imperfection::unknown_loss), 0u);
  EXPECT_EQ(found.info.losses.buffers.size(), 2u);
  // The same losses are reported by marks between events, by the statistics, and by the header.
  EXPECT_EQ(read(kStatistics + "CPU:1 [400 EVENTS DROPPED]\n" + event(1)).lost(), 527u);
  EXPECT_EQ(read(header(1, 521) + event(0) + kStatistics).lost(), 527u);
}

TEST(TextLosses, StatisticsAloneAreNoTrace) {
  try {
    read(kStatistics);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "The text has statistics of ring buffers, but no events");
  }
}

TEST(TextLosses, StatisticsOfTheKernel) {
  EXPECT_EQ(read(event(0) + "entries: 5\noverrun: 20\ncommit overrun: 0\ndropped events: 1\nread events: 0\n" +
                 "entries: 5\noverrun: 30\ncommit overrun: 0\ndropped events: 0\nread events: 0\n")
                .lost(),
            51u);
  const ReadText files = read(event(0) + "==> /sys/kernel/tracing/per_cpu/cpu1/stats <==\nentries: 5\noverrun: 20\n" +
                              "per_cpu/cpu3/stats:entries: 5\nper_cpu/cpu3/stats:overrun: 7\n");
  EXPECT_EQ(files.lost(), 27u);
  ASSERT_EQ(files.info.losses.buffers.size(), 2u);
  EXPECT_EQ(files.info.losses.buffers[0].cpu, 1u);
  EXPECT_EQ(files.info.losses.buffers[1].cpu, 3u);
  EXPECT_EQ(files.info.losses.buffers[1].overrun, 7u);
  EXPECT_EQ(read(event(0) + "CPU: 3 PID: 812 Comm: bash\nbytes: many\n").lost(), 0u);
}

}  // namespace
}  // namespace kmt
