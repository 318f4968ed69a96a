// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/report.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "support/sample_report.hpp"
#include "views/text/check.hpp"

namespace kmt {
namespace {

std::string render(const ReportResult& result, unsigned width = 120, const ReportOptions& options = {}) {
  return text_report(result, options, {width, false, false});
}

std::size_t columns(std::string_view line) {
  std::size_t count = 0;
  for (const char c : line) count += (static_cast<unsigned char>(c) & 0xC0u) != 0x80u ? 1 : 0;
  return count;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// Returns the words of the last line that starts with this word.
std::vector<std::string> row(const std::string& text, const std::string& name) {
  std::vector<std::string> words;
  const std::size_t at = text.find("\n  " + name + " ");
  if (at == std::string::npos) return words;
  const std::string line = text.substr(at + 3 + name.size(), text.find('\n', at + 1) - at - 3 - name.size());
  for (const std::string_view word : split(line, ' '))
    if (!word.empty()) words.emplace_back(word);
  return words;
}

TEST(TextReport, DescribesMachineTotalsAndAnomalies) {
  const std::string text = render(test::sample_report());
  EXPECT_TRUE(has(text, "Linux 6.1.0-test, s390x, 64-bit big-endian, 2 CPUs, pages of 4.0 KiB"));
  EXPECT_TRUE(has(text, "1.500 s from 12.000000345 on clock mono"));
  EXPECT_TRUE(has(text, "1,234: kmalloc 700, kfree 534"));
  EXPECT_TRUE(has(text, "lost       nothing"));
  EXPECT_TRUE(has(text, "5  an object from before the trace was freed"));
  EXPECT_TRUE(has(text, "unknown  the trace does not contain the nodes of the CPUs"));
  EXPECT_TRUE(has(text, "3  allocations"));
}

TEST(TextReport, ReportsMissingCpusFirst) {
  ReportResult result = test::sample_report();
  result.trace.missing_cpus = "CPU 1";
  const std::string text = render(result, 200);
  EXPECT_EQ(text.substr(text.find('\n') + 1).find("  MISSING: the trace lacks the events of CPU 1;"), 0u);

  CheckResult checked;
  checked.findings.add({Imperfection::damaged_page, "", {}, {}, {}});
  checked.findings.add({Imperfection::some_cpus, "1 of 2 CPUs: 0", {}, {}, {}});
  const std::string findings = text_check(checked, {200, false, false});
  EXPECT_LT(findings.find("only some CPUs were recorded"), findings.find("ring-buffer page"));
}

TEST(TextReport, NeverExceedsTheWidth) {
  ReportResult result = test::sample_report();
  result.trace.lost_events = 30;
  result.trace.lost_per_cpu = {10, 20};
  for (int i = 0; i < 30; ++i)
    test::call_sites(result).push_back(test::site(0x5000, std::string(200, 'x'), 1u << 30, ~0ull >> 4, ~0ull >> 4));
  test::add_up(result);
  for (const unsigned width : {60u, 80u, 120u, 200u})
    for (const std::string_view key : {"allocated", "failed", "symbol", "address", "wasted"}) {
      ReportOptions options;
      options.sort = find_group_column(key);
      const std::string text = render(result, width, options);
      for (const std::string_view line : split(text, '\n')) EXPECT_LE(columns(line), width) << line;
    }
}

TEST(TextReport, ShowsMoreColumnsIfThereIsRoom) {
  const ReportResult result = test::sample_report();
  EXPECT_FALSE(has(render(result, 60), "Ping-pong"));
  EXPECT_TRUE(has(render(result, 80), "Ping-pong"));
  EXPECT_FALSE(has(render(result, 80), "Requested"));
  EXPECT_TRUE(has(render(result, 120), "Requested"));
  EXPECT_TRUE(has(render(result, 200), "Frees"));
}

TEST(TextReport, AlwaysShowsTheColumnItSortsBy) {
  ReportOptions options;
  options.sort = find_group_column("wasted");
  EXPECT_TRUE(has(render(test::sample_report(), 60, options), "Wasted"));
}

TEST(TextReport, RowsAndOthersAddUp) {
  const ReportResult result = test::sample_report();
  ReportOptions options;
  options.limit = 1;
  for (const char* key :
       {"hits", "requested", "allocated", "wasted", "frees", "live", "live-bytes", "pingpong", "failed"})
    options.columns.push_back(find_group_column(key));
  const std::string text = text_report(result, options, {120, false, true});
  const auto first = row(text, "second_function_with_a_rather_long_name+0x1f4 [a_module]");
  const auto rest = row(text, "(3 more)");
  const auto total = row(text, "total");
  ASSERT_EQ(first.size(), options.columns.size());
  ASSERT_EQ(rest.size(), options.columns.size());
  ASSERT_EQ(total.size(), options.columns.size());
  for (std::size_t i = 0; i < total.size(); ++i)
    EXPECT_EQ(std::stoull(first[i]) + std::stoull(rest[i]), std::stoull(total[i])) << i;
  EXPECT_EQ(std::stoull(total[0]), result.slab.allocations);
  EXPECT_EQ(std::stoull(total[2]), result.slab.bytes_allocated);
  EXPECT_FALSE(has(render(result), "more)"));
}

TEST(TextReport, LimitZeroShowsAll) {
  ReportResult result = test::sample_report();
  for (std::uint64_t i = 0; i < 50; ++i)
    test::call_sites(result).push_back(test::site(0x9000 + i, "site+0x1", 1, 1, 8));
  test::add_up(result);
  EXPECT_TRUE(has(render(result), "(34 more)"));
  ReportOptions all;
  all.limit = 0;
  EXPECT_FALSE(has(render(result, 120, all), "more)"));
}

TEST(TextReport, StatesWhichNumbersLossesAffect) {
  ReportResult result = test::sample_report();
  result.trace.lost_events = 1204;
  result.trace.lost_per_cpu = {0, 1204};
  const std::string text = render(result, 1000);
  EXPECT_TRUE(has(text, "1,204 events (cpu 1: 1,204)"));
  EXPECT_TRUE(has(text, "look live"));
}

TEST(TextReport, StatesThatLossesMayBeOfOtherTasks) {
  ReportResult result = test::sample_report();
  result.trace.lost_events = 5;
  result.trace.lost_of_any_task = true;
  const std::string text = render(result, 1000);
  EXPECT_TRUE(has(text, "5 events (of unknown cpu: 5): some or all of them may be from tasks that were not recorded"));
  EXPECT_FALSE(has(text, "all totals are too small"));
  result.trace.lost_events = 7;
  result.trace.lost_per_cpu = {2};
  const std::string both = render(result, 1000);
  EXPECT_TRUE(has(both, "all totals are too small by the lost events; events of unknown cpu may be from tasks"));
}

TEST(TextReport, StatesThatItIsIncomplete) {
  ReportResult result = test::sample_report();
  EXPECT_FALSE(has(render(result), "INCOMPLETE"));
  result.trace.complete = false;
  EXPECT_TRUE(has(render(result), "INCOMPLETE"));
}

TEST(TextReport, NeverPrintsZerosForAnEmptyTrace) {
  ReportResult result;
  result.trace.path = "empty.dat";
  EXPECT_TRUE(has(render(result), "this trace has no events"));
  EXPECT_FALSE(has(render(result), "Slab"));

  result.trace.events = 5210;
  result.events = {{"sched_switch", 5210}};
  const std::string other = render(result);
  EXPECT_TRUE(has(other, "no kmem events in this trace, but 5,210 events of other kinds: sched_switch 5,210"));
  EXPECT_TRUE(has(other, "kmemtrace record"));
  EXPECT_FALSE(has(other, "Slab"));

  ReportOptions filtered;
  filtered.filtered = true;
  result.trace.events = 0;
  EXPECT_TRUE(has(render(result, 120, filtered), "no event of the trace matches"));
}

TEST(TextReport, NamesMissingAllocators) {
  ReportResult result = test::sample_report();
  result.page_orders.clear();
  test::add_up(result);
  EXPECT_TRUE(has(render(result), "no events of this allocator in the trace (mm_page_alloc, mm_page_free)"));
  EXPECT_FALSE(has(render(result), "by order"));
}

TEST(TextReport, ShowsPercpuAndVmallocOnlyIfPresent) {
  ReportResult result = test::sample_report();
  EXPECT_FALSE(has(render(result), "Percpu"));
  EXPECT_FALSE(has(render(result), "Vmalloc"));

  result.percpu.allocations = 3;
  result.percpu.bytes_requested = 2048;
  result.percpu.bytes_allocated = 10240;
  test::add_percpu(result, {test::site(0x5000, "counters+0x2", 3, 2048, 10240)});
  result.vmalloc.frees = result.vmalloc.unmatched_frees = 1;
  std::string text = render(result);
  EXPECT_TRUE(has(text, "2.0 KiB  for each CPU, in 3 allocations"));
  EXPECT_TRUE(has(text, "10.0 KiB  for all possible CPUs"));
  EXPECT_TRUE(has(text, "Percpu call sites by Allocated, all 1"));
  EXPECT_EQ(row(text, "counters+0x2")[0], "3");
  EXPECT_TRUE(has(text, "Vmalloc areas"));

  // Percpu memory has no waste, so it cannot be sorted by waste.
  ReportOptions by_waste;
  by_waste.sort = find_group_column("waste");
  EXPECT_TRUE(has(render(result, 120, by_waste), "Percpu call sites by Allocated"));
  by_waste.sort = find_group_column("hits");
  EXPECT_TRUE(has(render(result, 120, by_waste), "Percpu call sites by Hits"));

  result.percpu.knows_bytes = result.groups[1].rows[0].knows_bytes = false;
  text = render(result);
  EXPECT_TRUE(has(text, "unknown  Linux before 5.19 does not report"));
  EXPECT_FALSE(has(text, "10.0 KiB"));
}

TEST(TextReport, CanShowASingleAllocator) {
  ReportResult result;
  result.trace.events = result.vmalloc.allocations = 2;
  result.vmalloc.bytes_allocated = 8192;
  const std::string text = render(result);
  EXPECT_TRUE(has(text, "8.0 KiB  in 2 areas"));
  EXPECT_FALSE(has(text, "Nothing to report"));
}

TEST(TextReport, EscapesControlCharacters) {
  ReportResult result = test::sample_report();
  const std::string hostile = "\x1b]0;owned\x07\x1b[2J\r\n\xff\x9b";
  result.trace.path = result.trace.kernel = result.trace.arch = result.trace.clock = result.trace.format = hostile;
  result.events.emplace_back(hostile, 1);
  test::call_sites(result)[0].keys = {CodeAddress{0x1000, hostile}};
  result.findings.add({Imperfection::damaged_section, hostile, {}, {}, {}});
  const CheckResult check{.trace = result.trace, .findings = result.findings, .sound = false};
  for (const std::string& text : {render(result), text_check(check, {80, false, false})}) {
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(text.find('\r'), std::string::npos);
    EXPECT_EQ(text.find('\x07'), std::string::npos);
    EXPECT_EQ(text.find('\xff'), std::string::npos);
    EXPECT_EQ(text.find('\x9b'), std::string::npos);
    EXPECT_TRUE(has(text, "\\x1b]0;owned"));
  }
}

TEST(TextReport, RawHasPlainDigits) {
  const std::string text = text_report(test::sample_report(), {}, {80, false, true});
  EXPECT_TRUE(has(text, "47060 B"));
  EXPECT_TRUE(has(text, "1500000000 ns"));
  EXPECT_TRUE(has(text, "second_function_with_a_rather_long_name+0x1f4 [a_module]"));
  EXPECT_FALSE(has(text, "KiB"));
}

TEST(TextCheck, ShowsVerdictSeverityAndPositions) {
  CheckResult result;
  result.trace = test::sample_report().trace;
  EXPECT_TRUE(has(text_check(result, {120, false, false}), "sample.dat: sound"));
  result.sound = false;
  result.findings.add({Imperfection::damaged_page, "commit is 9999", 1, 0x1000, 12'345'678'901});
  for (int i = 0; i < 6; ++i) result.findings.add({Imperfection::allocated_before_trace, "", 0, {}, {}});
  const std::string text = text_check(result, {120, false, false});
  EXPECT_TRUE(has(text, "sample.dat: NOT SOUND"));
  EXPECT_TRUE(has(text, "cpu 1, offset 0x1000, at 12.345678901: commit is 9999"));
  EXPECT_TRUE(has(text, "--json shows the first 6"));
  EXPECT_LT(text.find("ring-buffer page"), text.find("allocated before"));  // worst first
  EXPECT_TRUE(has(text, "error      1  a ring-buffer page"));
}

}  // namespace
}  // namespace kmt
