// SPDX-License-Identifier: GPL-2.0-or-later
// Tests groups by the task or function that frees, and matrices, with hand-made events. tests/oracle/groups_test.py
// uses real traces.
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/report/matrix.hpp"
#include "analysis/report/report.hpp"

namespace kmt {
namespace {

class NumberNames : public SymbolNames {
 public:
  std::string name(std::uint64_t address) const override { return "f" + std::to_string(address); }
};

class Freers : public testing::Test {
 protected:
  Freers() {
    info.machine.page_size = 4096;
    info.machine.cpus = 1;
    info.machine.kernel = "6.1.0";
    info.recording.page_identity = PageIdentity::frame;
    info.tables.event_types = {{"kmem", "some_event", EventKind::other}};
    info.tables.call_sites = {0, 1, 2, 3};
    info.tasks.comms = {{7, "worker"}, {8, "other"}};
  }

  Event& add(EventKind kind, std::uint64_t address, std::int32_t tid, std::uint32_t site = 1) {
    Event event{};
    event.kind = kind;
    event.address = address;
    event.tid = tid;
    event.call_site = {site};
    event.time_ns = 100 * (events.size() + 1);
    event.node = kNoNode;
    if (is_allocation(kind)) event.bytes_requested = event.bytes_allocated = 128;
    events.push_back(event);
    return events.back();
  }

  ReportResult report(std::vector<GroupKey> by) {
    ReportRequest request;
    request.by = std::move(by);
    const NumberNames names;
    ReportAnalysis analysis(info, names, request);
    analysis.add(events);
    return analysis.finish();
  }
  static const GroupRow* find(const ReportResult& result, std::string_view name) {
    const auto row = std::ranges::find(result.groups.front().rows, name, &GroupRow::name);
    return row == result.groups.front().rows.end() ? nullptr : &*row;
  }

  TraceInfo info;
  EventBatch events;
};

TEST_F(Freers, TasksAndInterruptsFree) {
  for (std::uint64_t object = 1; object <= 4; ++object) add(EventKind::kmalloc, object << 12, 7);
  add(EventKind::kfree, 1 << 12, 8);
  add(EventKind::kfree, 2 << 12, 7);
  add(EventKind::kfree, 3 << 12, 8).context = Context::kSoftIrq;
  add(EventKind::kfree, 9 << 12, 8);  // an object from before the trace, which is in no group
  const ReportResult result = report({GroupKey::task, GroupKey::free_task});
  ASSERT_EQ(result.groups.front().rows.size(), 4u);
  for (const char* const name : {"worker-7, other-8", "worker-7, worker-7", "worker-7, [softirq]"}) {
    ASSERT_NE(find(result, name), nullptr) << name;
    EXPECT_EQ(find(result, name)->allocations, 1u) << name;
    EXPECT_EQ(find(result, name)->matched_frees, 1u) << name;
    EXPECT_EQ(find(result, name)->bytes_freed, 128u) << name;
    EXPECT_EQ(find(result, name)->live_bytes, 0u) << name;
  }
  const GroupRow* const live = find(result, "worker-7, not freed");
  ASSERT_NE(live, nullptr);
  EXPECT_EQ(live->live_bytes, 128u);
  EXPECT_EQ(live->matched_frees, 0u);
  EXPECT_FALSE(live->peak_bytes.has_value());
}

TEST_F(Freers, SitesFree) {
  add(EventKind::kmalloc, 0x1000, 7);
  add(EventKind::kmalloc, 0x2000, 7);
  add(EventKind::kfree, 0x1000, 7, 2);
  add(EventKind::kfree, 0x2000, 7, 3);
  const ReportResult result = report({GroupKey::call_site, GroupKey::free_site});
  EXPECT_NE(find(result, "f1, f2"), nullptr);
  EXPECT_NE(find(result, "f1, f3"), nullptr);
  EXPECT_EQ(result.groups.front().rows.size(), 2u);
}

TEST_F(Freers, EachFreerOfPagesHasItsPart) {
  add(EventKind::page_alloc, 0x100, 7).order = 2;
  add(EventKind::page_free, 0x100, 7).order = 0;
  add(EventKind::page_free, 0x102, 8).order = 1;
  const ReportResult result = report({GroupKey::free_task});
  ASSERT_EQ(result.groups.front().rows.size(), 3u);
  EXPECT_EQ(find(result, "worker-7")->allocations, 1u);
  EXPECT_EQ(find(result, "worker-7")->bytes_freed, 4096u);
  EXPECT_EQ(find(result, "other-8")->allocations, 0u);
  EXPECT_EQ(find(result, "other-8")->bytes_freed, 2 * 4096u);
  EXPECT_FALSE(find(result, "other-8")->first_ns.has_value());
  EXPECT_EQ(find(result, "not freed")->live_bytes, 4096u);
}

TEST_F(Freers, AMatrixHasTheLargestColumnsAndTheOthers) {
  constexpr std::uint64_t kTasks = 15;
  std::uint64_t next = 0;
  for (std::uint64_t task = 1; task <= kTasks; ++task)
    for (std::uint64_t i = 0; i < task; ++i) {
      add(EventKind::kmalloc, next += 0x1000, 7);
      add(EventKind::kfree, next, static_cast<std::int32_t>(100 + task));
    }
  add(EventKind::kmalloc, next += 0x1000, 8);
  const std::vector<Matrix> matrices =
      matrices_of(report({GroupKey::task, GroupKey::free_task}), *find_group_column("hits"));
  ASSERT_EQ(matrices.size(), 1u);
  const Matrix& matrix = matrices.front();
  EXPECT_EQ(matrix.columns.size(), Matrix::kMostColumns);
  EXPECT_EQ(matrix.other_columns, kTasks + 1 - Matrix::kMostColumns);
  ASSERT_EQ(matrix.rows.size(), 2u);
  EXPECT_EQ(plain_text(matrix.rows[0].keys.front()), "worker-7");
  EXPECT_EQ(matrix.rows[0].amounts.front(), kTasks);
  EXPECT_EQ(matrix.rows[0].total, kTasks * (kTasks + 1) / 2);
  EXPECT_EQ(matrix.rows[0].others, 1u + 2 + 3);
  EXPECT_EQ(matrix.rows[1].others, 1u);  // not freed
  EXPECT_EQ(matrix.total.total, matrix.rows[0].total + 1);
}

}  // namespace
}  // namespace kmt
