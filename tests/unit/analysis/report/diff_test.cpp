// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/report/diff.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/sample_report.hpp"
#include "views/text/diff.hpp"

namespace kmt {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

GroupRow site(const std::string& symbol, std::uint64_t allocations, std::uint64_t bytes_each = 100) {
  return test::site(0x1000, symbol, allocations, allocations * 90, allocations * bytes_each);
}

ReportResult side(std::vector<GroupRow> rows, std::uint64_t seconds = 1) {
  ReportResult made = test::sample_report();
  made.trace.recorded_ns = seconds * kSecond;
  made.activity = {{{"sched:sched_process_fork", 10 * seconds}}, {true}};
  made.page_orders.clear();
  test::call_sites(made) = std::move(rows);
  test::add_up(made);
  return made;
}

const DiffRow& row(const DiffResult& result, const std::string& name) {
  for (const DiffRow& found : result.tables.at(0).rows)
    if (found.name == name) return found;
  throw std::out_of_range(name);
}

Change change(const DiffResult& result, const std::string& name, const char* column, const Noise& noise = {}) {
  return change_of(row(result, name), *find_group_column(column), result.basis, noise);
}

std::string text(const DiffResult& result, bool colour = false) { return text_diff(result, {}, {120, colour, false}); }

bool has(const std::string& whole, std::string_view part) { return whole.find(part) != std::string::npos; }

TEST(Diff, JoinsCallSitesByFunctionAndAddsThemUp) {
  const DiffResult result =
      diff(side({site("f+0x1", 100), site("f.isra.0+0x9", 20)}), side({site("f.part.3+0x77", 1200)}), {});
  ASSERT_EQ(result.tables.at(0).rows.size(), 1u);
  EXPECT_EQ(change(result, "f", "hits").a, 120);
  EXPECT_EQ(change(result, "f", "hits").b, 1200);
  EXPECT_EQ(change(result, "f", "hits").percent, 900);
  EXPECT_EQ(change(result, "f", "allocated").difference, 108000);
}

TEST(Diff, JoinsBySymbolOnRequest) {
  DiffRequest exact;
  exact.exact = true;
  const DiffResult result = diff(side({site("f+0x1", 100), site("f+0x9", 20)}), side({site("f+0x9", 30)}), exact);
  EXPECT_EQ(result.tables.at(0).rows.size(), 2u);
  EXPECT_EQ(change(result, "f+0x9", "hits").b, 30);
  EXPECT_TRUE(row(result, "f+0x1").in_a);
  EXPECT_FALSE(row(result, "f+0x1").in_b);
}

TEST(Diff, JoinsTasksByNameAndSizesByNumber) {
  ReportResult a = side({site("f", 10), site("f", 20)});
  ReportResult b = side({site("f", 40)});
  a.by = b.by = {GroupKey::task, GroupKey::size};
  test::call_sites(a)[0].keys = {TaskName{7, "sh"}, std::uint64_t{64}};
  test::call_sites(a)[1].keys = {TaskName{8, "sh"}, std::uint64_t{64}};
  test::call_sites(b)[0].keys = {TaskName{9, "sh"}, std::uint64_t{64}};
  const DiffResult result = diff(a, b, {});
  EXPECT_EQ(change(result, "sh, 64", "hits").a, 30);
  EXPECT_EQ(change(result, "sh, 64", "hits").b, 40);
}

TEST(Diff, PeaksOfMergedGroupsAreUnknown) {
  GroupRow one = site("f+0x1", 100);
  one.peak_bytes = 500;
  GroupRow other = site("f+0x2", 100);
  other.peak_bytes = 700;
  const DiffResult result = diff(side({one, other}), side({one}), {});
  EXPECT_EQ(change(result, "f", "peak").a, std::nullopt);
  EXPECT_EQ(change(result, "f", "peak").b, 500);
  EXPECT_EQ(change(result, "f", "peak").verdict, Verdict::unknown);
}

TEST(Diff, DividesByTimeOnlyIfDurationsDiffer) {
  const DiffResult equal = diff(side({site("f", 100)}, 2), side({site("f", 100)}, 2), {});
  EXPECT_EQ(equal.basis.per, DiffPer::trace);
  const DiffResult longer = diff(side({site("f", 100)}, 2), side({site("f", 400)}, 8), {});
  EXPECT_EQ(longer.basis.per, DiffPer::second);
  EXPECT_EQ(change(longer, "f", "hits").a, 50);
  EXPECT_EQ(change(longer, "f", "hits").difference, 0);
  DiffRequest absolute;
  absolute.per = DiffPer::trace;
  EXPECT_EQ(change(diff(side({site("f", 100)}, 2), side({site("f", 400)}, 8), absolute), "f", "hits").difference, 300);
}

TEST(Diff, DividesByTheOccurrencesOfAnEvent) {
  for (const char* const name : {"sched_process_fork", "sched:sched_process_fork"}) {
    const DiffRequest request{false, DiffPer::event, name};
    const DiffResult result = diff(side({site("f", 100)}, 1), side({site("f", 100)}, 5), request);
    EXPECT_EQ(change(result, "f", "hits").a, 10);
    EXPECT_EQ(change(result, "f", "hits").b, 2);
  }
  EXPECT_THROW(diff(side({}), side({}), {false, DiffPer::event, "sched_switch"}), Error);
  // Every recording contains task_newtask events, but hardly any contains sched_process_fork events.
  ReportResult recorded = side({});
  recorded.activity = {{{"task:task_newtask", 3}}, {true}};
  try {
    diff(recorded, recorded, {false, DiffPer::event, "sched_process_fork"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.hint().find("--per task_newtask"), std::string::npos) << error.hint();
  }
}

TEST(Diff, NeverDividesTicksByTime) {
  ReportResult ticks = side({site("f", 100)}, 3);
  ticks.trace.clock_in_ns = false;
  EXPECT_EQ(diff(ticks, side({site("f", 100)}), {}).basis.per, DiffPer::trace);
  EXPECT_THROW(diff(ticks, side({site("f", 100)}), {false, DiffPer::second, ""}), Error);
}

TEST(Diff, LiveMemoryIsNotDivided) {
  GroupRow live = site("f", 100);
  live.live_allocations = 50;
  live.live_bytes = 5000;
  const DiffResult result = diff(side({live}, 1), side({live}, 10), {});
  EXPECT_EQ(change(result, "f", "live-bytes").difference, 0);
  EXPECT_EQ(change(result, "f", "hits").percent, -90);
}

// 100 and 142 differ by 42 % and by 2.7 standard deviations; 1000 and 1420 differ by 8.5 standard deviations.
TEST(Diff, NoiseIsNoChange) {
  const auto verdict = [](std::uint64_t a, std::uint64_t b, const Noise& noise = {}) {
    return change(diff(side({site("f", a)}), side({site("f", b)}), {}), "f", "hits", noise).verdict;
  };
  EXPECT_EQ(verdict(100, 142), Verdict::unchanged);
  EXPECT_EQ(verdict(100, 150), Verdict::changed);
  EXPECT_EQ(verdict(1000, 1420), Verdict::changed);
  EXPECT_EQ(verdict(1'000'000, 1'049'000), Verdict::unchanged) << "less than five percent";
  EXPECT_EQ(verdict(1'000'000, 1'049'000, {1, 10}), Verdict::changed);
  EXPECT_EQ(verdict(0, 9), Verdict::unchanged);
  EXPECT_EQ(verdict(0, 10), Verdict::changed);
  EXPECT_EQ(verdict(0, 10, {5, 11}), Verdict::unchanged);
  EXPECT_EQ(verdict(10, 0), Verdict::changed);
}

TEST(Diff, TotalsOfPagesEqualThoseOfTheReport) {
  ReportResult a = side({site("f", 1)});
  a.activity.allocated[static_cast<std::size_t>(Allocator::pages)] = true;
  a.pages.allocations = 10;
  a.pages.matched_frees = 6;  // three more allocations ended when their pages were allocated again
  a.pages.live_allocations = 1;
  for (int i = 0; i < 6; ++i) a.pages.lifetimes.add(1000);
  const DiffResult result = diff(a, a, {});
  const DiffRow& total = result.totals.at(1).row;
  EXPECT_EQ(total.a->live_allocations, 1u);
  EXPECT_EQ(total.a->matched_frees, 6u);
}

TEST(Diff, UnknownValuesAreNoChange) {
  const ReportResult a = side({site("f", 1000), site("g", 1000)});
  ReportResult b = side({});
  EXPECT_EQ(change(diff(a, b, {}), "f", "hits").verdict, Verdict::changed)
      << "the trace has allocations, but not in this group";
  b.activity.allocated = {};
  const DiffResult result = diff(a, b, {});
  EXPECT_EQ(change(result, "f", "hits").a, 1000);
  EXPECT_EQ(change(result, "f", "hits").b, std::nullopt);
  EXPECT_EQ(change(result, "f", "hits").verdict, Verdict::unknown);
  EXPECT_FALSE(result.totals.at(0).row.b);
  EXPECT_TRUE(has(text(result), "unknown: no group has this value in both traces"));
  EXPECT_FALSE(has(text(result), "gone"));
}

TEST(Diff, CrossNodeFreesOfAMissingGroupAreUnknownWithoutNodes) {
  ReportResult a = side({site("f", 1000)});
  test::call_sites(a)[0].cross_node_frees = 500;
  a.slab.cross_node_allocations = 0;
  ReportResult b = side({});
  EXPECT_EQ(change(diff(a, b, {}), "f", "cross-node").verdict, Verdict::unknown);
  b.slab.cross_node_allocations = 0;
  EXPECT_EQ(change(diff(a, b, {}), "f", "cross-node").verdict, Verdict::changed);
}

TEST(Diff, BytesOfAMissingGroupAreUnknownIfTheKernelReportsNone) {
  ReportResult a = side({site("f", 1000)});
  ReportResult b = side({site("g", 1000)});
  b.slab.knows_bytes = false;
  EXPECT_EQ(change(diff(a, b, {}), "f", "allocated").verdict, Verdict::unknown);
  EXPECT_EQ(change(diff(a, b, {}), "f", "hits").verdict, Verdict::changed);
}

TEST(TextDiff, TotalsAreNeitherNewNorGone) {
  const std::string out = text(diff(side({site("f", 5), site("g", 5)}), side({}), {}));
  const std::size_t line = out.find("(2 within noise)");
  ASSERT_NE(line, std::string::npos);
  EXPECT_EQ(out.substr(line, out.find('\n', line) - line).find("gone"), std::string::npos);
}

// Ten events in a hundred seconds correspond to 0.1 events in one second. A trace of one second cannot contain a tenth
// of an event, so the difference must not be reported.
TEST(Diff, ShortTracesNeedLargerDifferences) {
  const DiffResult result = diff(side({}, 1), side({site("f", 10)}, 100), {});
  EXPECT_EQ(change(result, "f", "hits").verdict, Verdict::unchanged);
}

TEST(Diff, RareEventsNeedLargerDifferences) {
  const auto verdict = [](std::uint64_t scale) {
    const DiffRequest request{false, DiffPer::event, "sched_process_fork"};
    ReportResult a = side({site("f", 100'000)});
    ReportResult b = side({site("f", 200'000)});
    a.activity.events = b.activity.events = {{"sched:sched_process_fork", scale}};
    return change(diff(a, b, request), "f", "hits").verdict;
  };
  EXPECT_EQ(verdict(2), Verdict::unchanged);
  EXPECT_EQ(verdict(200), Verdict::changed);
}

TEST(Diff, LifetimesChangeByMoreThanTheirSpread) {
  const auto verdict = [](unsigned count, std::uint64_t a_ns, std::uint64_t b_ns, const char* column) {
    GroupRow a = site("f", count);
    GroupRow b = site("f", count);
    for (unsigned i = 0; i < count; ++i) {
      a.lifetimes.add(a_ns);
      b.lifetimes.add(b_ns);
    }
    return change(diff(side({a}), side({b}), {}), "f", column).verdict;
  };
  EXPECT_EQ(verdict(20, 1000, 1500, "mean-life"), Verdict::unchanged);
  EXPECT_EQ(verdict(2000, 1000, 1500, "mean-life"), Verdict::changed);
  EXPECT_EQ(verdict(2000, 1000, 1100, "p99-life"), Verdict::unchanged) << "within a bucket";
  EXPECT_EQ(verdict(2000, 1000, 4000, "p99-life"), Verdict::changed);
  EXPECT_EQ(verdict(900, 1000, 4000, "p99-life"), Verdict::unchanged) << "nine lifetimes beyond the percentile";
}

TEST(Diff, WasteChangesByPoints) {
  const auto verdict = [](std::uint64_t a_each, std::uint64_t b_each) {
    return change(diff(side({site("f", 100, a_each)}), side({site("f", 100, b_each)}), {}), "f", "waste").verdict;
  };
  EXPECT_EQ(verdict(100, 103), Verdict::unchanged);  // the waste is 10 % and 12.6 %
  EXPECT_EQ(verdict(100, 120), Verdict::changed);    // the waste is 10 % and 25 %
}

TEST(Diff, IdenticalTracesHaveNoChange) {
  const ReportResult same = side({site("f", 1000), site("g", 5), site("h", 0)});
  const DiffResult result = diff(same, same, {});
  for (const auto* column : diff_columns()) {
    const DiffOrder order = ordered_rows(result.tables.at(0), *column, result.basis, {0, 0});
    EXPECT_TRUE(order.changed.empty()) << column->key;
    EXPECT_EQ(order.unchanged.size() + order.unknown.size(), 3u);
  }
}

TEST(TextDiff, MarksWhatIsNewAndGoneAndSumsTheRest) {
  const DiffResult result = diff(side({site("old", 500), site("same", 500), site("both", 1000)}),
                                 side({site("young", 700), site("same", 501), site("both", 3000)}), {});
  const std::string out = text(result);
  EXPECT_TRUE(has(out, "3 changed of 4"));
  EXPECT_LT(out.find("both "), out.find("young "));
  EXPECT_LT(out.find("young "), out.find("old "));
  EXPECT_TRUE(has(out, "(1 within noise)"));
  EXPECT_TRUE(has(out, "new"));
  EXPECT_TRUE(has(out, "gone"));
  EXPECT_TRUE(has(out, "+200.0%"));
  EXPECT_FALSE(has(out, "\x1b"));
}

TEST(TextDiff, FewerBytesAreGreenAndMoreAreRed) {
  const ReportResult less = side({site("f", 500)});
  const ReportResult more = side({site("f", 5000)});
  EXPECT_TRUE(has(text(diff(more, less, {}), true), "\x1b[32m  f "));
  EXPECT_TRUE(has(text(diff(less, more, {}), true), "\x1b[31m  f "));
}

TEST(TextDiff, ReportsLossesAndUnrecordedEvents) {
  ReportResult a = side({site("f", 500)});
  const ReportResult b = side({site("f", 500)});
  a.trace.lost_events = 3;
  test::add_percpu(a, {site("p", 20)});
  a.percpu.allocations = 20;
  a.activity.allocated[static_cast<std::size_t>(Allocator::percpu)] = true;
  const std::string out = text(diff(a, b, {}));
  EXPECT_TRUE(has(out, "A lost events"));
  EXPECT_FALSE(has(out, "B lost events"));
  EXPECT_TRUE(has(out, "B has no allocations of this allocator"));
}

}  // namespace
}  // namespace kmt
