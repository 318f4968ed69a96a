// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the verdicts on objects without a cache that copy_process() allocates for each task, with hand-made events.
#include "analysis/report/replaced_objects.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "analysis/report/leaks.hpp"
#include "analysis/report/report.hpp"
#include "trace/stack_ids.hpp"

namespace kmt {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kForks = 100;  // per second

enum Code : std::uint64_t { kFork = 1, kTable, kOther, kExit, kEntry };

class ForkNames : public SymbolNames {
 public:
  std::string name(std::uint64_t address) const override {
    constexpr std::array kNames = {"copy_process+0x1", "alloc_fdtable+0x2", "sys_other+0x3", "exit_task+0x4",
                                   "do_syscall_64+0x5"};
    return kNames[address - 1];
  }
};

class Forks : public testing::Test {
 protected:
  Forks() {
    info.machine.page_size = 4096;
    info.machine.cpus = 1;
    info.machine.kernel = "6.18.0";
    info.tables.event_types = {{"kmem", "some_event", EventKind::other}};
    info.tables.call_sites = {0, kFork, kTable, kOther, kExit};
    info.tables.cache_names = {"", "task_struct"};
    StackIds stacks(info.tables.stacks);
    in_fork = stacks.id_of(std::array<std::uint64_t, 3>{kTable, kFork, kEntry});
    of_task = stacks.id_of(std::array<std::uint64_t, 2>{kFork, kEntry});
    elsewhere = stacks.id_of(std::array<std::uint64_t, 3>{kTable, kOther, kEntry});
  }

  Event& add(EventKind kind, std::uint64_t time_ns, std::uint64_t address, std::uint32_t site) {
    Event event{};
    event.kind = kind;
    event.time_ns = time_ns;
    event.address = address;
    event.call_site = {site};
    event.node = kNoNode;
    if (is_allocation(kind)) event.bytes_requested = event.bytes_allocated = 512;
    if (kind == EventKind::cache_alloc || kind == EventKind::cache_free) event.cache = {1};
    events.push_back(event);
    return events.back();
  }
  // Allocates a table of files, which is never freed.
  void table(std::uint64_t time_ns, StackId stack) {
    add(EventKind::kmalloc, time_ns, next += 4096, kTable).stack = stack;
  }
  // Creates a task with a table of files, and a task that ends after 1 ms and keeps its table if `tables_leak` is set.
  // At the same time, a task from before the trace ends if `older_end` is set.
  void fork_storm(bool older_end, bool tables_leak) {
    for (std::uint64_t time = 0; time < 10 * kSecond; time += kSecond / kForks) {
      add(EventKind::cache_alloc, time, next += 4096, kFork).stack = of_task;
      table(time + 1, in_fork);
      add(EventKind::cache_alloc, time + 2, next += 4096, kFork).stack = of_task;
      if (tables_leak) table(time + 3, in_fork);
      add(EventKind::cache_free, time + 1'000'000, tables_leak ? next - 4096 : next, kExit);
      add(EventKind::kfree, time + 5, next += 4096, kExit);  // shows that frees are recorded
      if (older_end) add(EventKind::cache_free, time + 4, next += 4096, kExit);
    }
  }

  // Returns the verdict on tables with this stack.
  LeakVerdict verdict_on_tables(StackId stack) {
    std::ranges::stable_sort(events, {}, &Event::time_ns);
    const ForkNames names;
    ReportRequest request;
    request.by = usual_leak_keys(true);
    request.history = request.history_of_live = true;
    ReportAnalysis analysis(info, names, request);
    analysis.add(events);
    const LeaksResult result = leaks_of(analysis.finish(), 1000);
    for (const LeakRow& row : result.tables.front().rows)
      if (const auto& frames = std::get<std::vector<CodeAddress>>(row.group.keys[1]);
          frames.front().address == kTable && (frames[1].address == kOther) == (stack.value == elsewhere.value))
        return row.verdict;
    return LeakVerdict::no_clock;
  }

  TraceInfo info;
  EventBatch events;
  StackId in_fork, of_task, elsewhere;
  std::uint64_t next = 0x100000;
};

TEST_F(Forks, TablesOfTasksThatReplaceOlderOnesAreNoLeak) {
  fork_storm(true, false);
  EXPECT_EQ(verdict_on_tables(in_fork), LeakVerdict::uncertain);
}

// The compiler may turn a call at the end of copy_process() into a jump. The stack then has no frame of copy_process().
TEST_F(Forks, TheCallerOfTheFunctionSuffices) {
  in_fork = StackIds(info.tables.stacks).id_of(std::array<std::uint64_t, 2>{kTable, kEntry});
  fork_storm(true, false);
  EXPECT_EQ(verdict_on_tables(in_fork), LeakVerdict::uncertain);
}

TEST_F(Forks, ACallInsideItselfCountsOnce) {
  in_fork = StackIds(info.tables.stacks).id_of(std::array<std::uint64_t, 4>{kTable, kFork, kFork, kOther});
  fork_storm(true, false);
  EXPECT_EQ(verdict_on_tables(in_fork), LeakVerdict::uncertain);
}

TEST_F(Forks, TablesGrowIfTasksDo) {
  fork_storm(false, false);
  EXPECT_EQ(verdict_on_tables(in_fork), LeakVerdict::certain);
}

TEST_F(Forks, TablesOfEndedTasksAreALeak) {
  fork_storm(true, true);
  EXPECT_EQ(verdict_on_tables(in_fork), LeakVerdict::certain);
}

TEST_F(Forks, TablesThatOtherCallsAllocateAreALeak) {
  fork_storm(true, false);
  for (std::uint64_t time = 5; time < 10 * kSecond; time += kSecond / kForks) table(time, elsewhere);
  EXPECT_EQ(verdict_on_tables(elsewhere), LeakVerdict::certain);
}

}  // namespace
}  // namespace kmt
