// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the parts of recording that need no kernel. tests/live tests the parts that need a kernel.
#include "capture/ftrace/recorder.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "capture/features/kernel_symbols.hpp"
#include "capture/ftrace/buffer_size.hpp"
#include "capture/ftrace/event_filters.hpp"
#include "capture/tracefs/buffer_counters.hpp"
#include "cli/record/trigger.hpp"

namespace kmt {
namespace {

TEST(Recorder, CountersAreParsedFromTheKernelsText) {
  const BufferCounters counters = parse_buffer_counters(
      "entries: 176\noverrun: 204\ncommit overrun: 3\nbytes: 6464\noldest event ts:    12.588828\n"
      "now ts:    12.592993\ndropped events: 20\nread events: 5219\n");
  EXPECT_EQ(counters.unread, 176u);
  EXPECT_EQ(counters.read, 5219u);
  EXPECT_EQ(counters.lost, 227u);
  EXPECT_EQ(counters.unread_bytes, 6464u);
  EXPECT_EQ(counters.now_ticks, 12'592'993'000u);
  EXPECT_EQ(parse_buffer_counters("overrun: 0\nfull rings: 7\n").lost, 7u) << "counter of BPF rings";
  EXPECT_EQ(parse_buffer_counters("now ts: 123456789\n").now_ticks, 123456789u) << "a clock that is not in nanoseconds";
}

TEST(Recorder, ABufferWithoutCpusIsAnError) {
  EXPECT_THROW(ring_buffer_cpus("/nonexistent"), Error);
  EXPECT_THROW(ring_buffer_cpus("/proc/self"), Error);
}

TEST(Recorder, BuffersFitASecondOfTheMeasuredRateWithinLimits) {
  constexpr std::uint64_t kMiB = 1 << 20;
  EXPECT_EQ(choose_buffer_size(0, 32 * kMiB, 1024 * kMiB, 4), 32 * kMiB);
  EXPECT_EQ(choose_buffer_size(100 * kMiB, 32 * kMiB, 1024 * kMiB, 4), 100 * kMiB);
  EXPECT_EQ(choose_buffer_size(900 * kMiB, 32 * kMiB, 1024 * kMiB, 4), 256 * kMiB);
  EXPECT_EQ(choose_buffer_size(0, 32 * kMiB, 64 * kMiB, 4), 16 * kMiB);
  EXPECT_GT(choose_buffer_size(0, 32 * kMiB, 0, 4), 8192u);
}

TEST(Recorder, ConditionsOfATrigger) {
  EXPECT_TRUE(Trigger("failure").wants_failures());
  EXPECT_FALSE(Trigger("failure").holds(0));
  EXPECT_TRUE(Trigger("MemTotal>1M").holds(0));
  EXPECT_FALSE(Trigger("MemTotal<1M").holds(0));
  Trigger grown("MemTotal+0");
  EXPECT_TRUE(grown.holds(0)) << "no value of the start is known yet";
  Trigger not_grown("MemTotal+0");
  not_grown.start();
  EXPECT_FALSE(not_grown.holds(0));
  EXPECT_FALSE(Trigger("pgfault<1").holds(0)) << "a counter of vmstat";
  Trigger once("MemTotal > 1M");
  EXPECT_TRUE(once.holds(1));
  EXPECT_NE(once.what_happened().find("MemTotal is "), std::string::npos);
  EXPECT_FALSE(once.holds(100'000'000)) << "the condition is checked ten times a second";
  EXPECT_TRUE(once.holds(100'000'001));
  for (const char* const wrong :
       {"", "MemTotal", ">1M", "NoSuchLine>1", "MemTotal>lots", "Mem>1", "MemTotal+1M/never", "MemTotal+1M/0s"})
    EXPECT_THROW(Trigger{wrong}, Error) << wrong;
}

TEST(Recorder, TriggerMeasuresGrowthWithinAWindow) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  Trigger grows("pgfault+0/10s");  // each reading of the file causes page faults, or others do
  grows.start_again();
  EXPECT_FALSE(grows.holds(kSecond)) << "one reading shows no growth";
  Trigger steady("MemTotal+0/10s");
  for (std::uint64_t second = 1; second < 30; ++second) EXPECT_FALSE(steady.holds(second * kSecond));
  for (int i = 0; i < 2000; ++i) {
    volatile char* const page = new char[1 << 20]();
    page[0] = 1;
    delete[] page;
  }
  EXPECT_TRUE(grows.holds(2 * kSecond));
  EXPECT_FALSE(grows.holds(20 * kSecond)) << "all other readings are older than the window";
}

TEST(Recorder, TheFilterKeepsInterruptsAndFitsThePage) {
  EXPECT_EQ(filter_without({12, 345}), "(common_pid != 12 && common_pid != 345) || (common_flags & 0x58)");
  const auto many = filter_without(std::vector<pid_t>(100, 4194304));
  ASSERT_TRUE(many);
  EXPECT_LT(many->size(), 4096u);
  EXPECT_EQ(filter_without(std::vector<pid_t>(300, 4194304)), std::nullopt);
}

TEST(Recorder, SubBufferSizeIsReadFromTheHeaderPage) {
  EXPECT_EQ(sub_buffer_bytes("\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                             "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
                             "\tfield: char data;\toffset:16;\tsize:8176;\tsigned:0;\n"),
            8192u);
  EXPECT_EQ(sub_buffer_bytes(""), 0u);
  EXPECT_EQ(kernel_long_bytes("\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                              "\tfield: local_t commit;\toffset:8;\tsize:4;\tsigned:1;\n"),
            4u);
  EXPECT_EQ(kernel_long_bytes(""), 0u);
}

TEST(Recorder, PatternsSelectEventsAndTyposGetSuggestions) {
  const std::vector<EventName> available = {{"kmem", "kfree"}, {"kmem", "kmalloc"}, {"sched", "sched_switch"}};
  EXPECT_EQ(select_events(available, {"kmem:k*"}).size(), 2u);
  EXPECT_EQ(select_events(available, {"sched"}).size(), 1u);
  try {
    select_events(available, {"kmem:kmaloc"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.hint().find("kmem:kmalloc"), std::string::npos) << error.hint();
  }
}

TEST(Recorder, TheDefaultIsEveryTracedAllocator) {
  const auto defaults = [](const std::vector<EventName>& available) {
    return default_events("/nonexistent", available);
  };
  const std::vector<EventName> available = {{"kmem", "kfree"},
                                            {"percpu", "percpu_alloc_percpu"},
                                            {"percpu", "percpu_alloc_percpu_fail"},
                                            {"percpu", "percpu_create_chunk"},
                                            {"percpu", "percpu_free_percpu"},
                                            {"vmalloc", "alloc_vmap_area"},
                                            {"vmalloc", "free_vmap_area_noflush"},
                                            {"vmalloc", "purge_vmap_area_lazy"}};
  const DefaultEvents all = defaults(available);
  EXPECT_EQ(all.present.size(), 6u);
  for (const EventName& event : all.present) {
    EXPECT_NE(event.name, "percpu_create_chunk");
    EXPECT_NE(event.name, "purge_vmap_area_lazy");
  }

  const auto reason = [](const DefaultEvents& events, const std::string& pattern) -> std::string {
    for (const MissingEvent& missing : events.missing)
      if (missing.pattern == pattern) return missing.reason;
    return "";
  };
  const DefaultEvents few = defaults({{"kmem", "kfree"}, {"percpu", "percpu_free_percpu"}});
  EXPECT_EQ(few.present.size(), 2u);
  EXPECT_EQ(reason(few, "vmalloc:alloc_vmap_area"), "this kernel has no vmalloc events");
  EXPECT_EQ(reason(few, "percpu:percpu_alloc_percpu*"), "this kernel does not have it");
  EXPECT_EQ(reason(few, "percpu:percpu_free_percpu"), "");
}

}  // namespace
}  // namespace kmt
