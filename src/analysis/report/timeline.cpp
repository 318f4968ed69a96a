// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/report/timeline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

namespace kmt {

namespace {

// Returns the number of adjacent buckets that are merged into one.
std::size_t joined(const TimeAxis& axis, std::size_t most) {
  return std::max<std::size_t>((axis.buckets + most - 1) / std::max<std::size_t>(most, 1), 1);
}

std::vector<TimeSeriesPoint> coarser(const std::vector<TimeSeriesPoint>& points, std::size_t by) {
  std::vector<TimeSeriesPoint> out;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i % by == 0) out.emplace_back();
    out.back().live_bytes = points[i].live_bytes;
    out.back().bytes_allocated += points[i].bytes_allocated;
    out.back().allocations += points[i].allocations;
  }
  return out;
}

void add_allocators(TimelineResult& result, std::size_t by) {
  for (const Allocator allocator : {Allocator::slab, Allocator::pages, Allocator::percpu, Allocator::vmap}) {
    const SharedHistory& history = result.report.histories->of_allocator[static_cast<std::size_t>(allocator)];
    if (!history) continue;
    const bool any = std::any_of(history->series.begin(), history->series.end(),
                                 [](const TimeSeriesPoint& point) { return point.allocations > 0; });
    if (any)
      result.allocators.push_back({allocator, "", nullptr, coarser(history->series, by),
                                   allocator != Allocator::percpu || result.report.percpu.knows_bytes});
  }
}

// Restricts the kernel's own counters to the analysed time.
void clip(std::vector<MemorySeries>& memory, const TimeAxis& axis) {
  for (MemorySeries& series : memory)
    std::erase_if(series.points, [&axis](const MemorySeriesPoint& point) {
      return point.time_ns < axis.start_ns || point.time_ns > axis.end_ns;
    });
  std::erase_if(memory, [](const MemorySeries& series) { return series.points.empty(); });
}

// Returns a time axis for a trace without events: it has one bucket for each sample.
TimeAxis axis_of(const std::vector<MemorySeries>& memory) {
  TimeAxis axis{~std::uint64_t{0}, 0, 1, 0};
  for (const MemorySeries& series : memory) {
    axis.start_ns = std::min(axis.start_ns, series.points.front().time_ns);
    axis.end_ns = std::max(axis.end_ns, series.points.back().time_ns);
    axis.buckets = std::max(axis.buckets, std::min<std::size_t>(series.points.size(), TimelineRequest{}.buckets));
  }
  if (axis.buckets == 0 || axis.end_ns < axis.start_ns) return {};
  axis.width_ns = std::max<std::uint64_t>((axis.end_ns - axis.start_ns) / axis.buckets, 1);
  return axis;
}

void add_groups(TimelineResult& result, std::size_t top, std::size_t by) {
  for (const GroupTable& table : result.report.groups) {
    std::vector<const GroupRow*> rows;
    for (const GroupRow& row : table.rows)
      if (row.history) rows.push_back(&row);
    std::sort(rows.begin(), rows.end(), [](const GroupRow* a, const GroupRow* b) {
      return a->peak_bytes != b->peak_bytes ? a->peak_bytes > b->peak_bytes : a->name < b->name;
    });
    rows.resize(std::min(rows.size(), top));
    for (const GroupRow* row : rows)
      result.groups.push_back({table.allocator, row->name, row, coarser(row->history->series, by), row->knows_bytes});
  }
}

std::int64_t live_at(const std::vector<TimeSeriesPoint>& points, const TimeAxis& axis, std::uint64_t time_ns) {
  if (points.empty() || time_ns < axis.start_ns) return 0;
  return points[axis.bucket_of(time_ns)].live_bytes;
}

using Points = std::vector<TimeSeriesPoint>;

// Describes how a line of meminfo is compared with events of the trace.
struct Comparison {
  std::string_view name;
  Allocator allocator;
  // True: compare pages allocated minus pages freed, including frees of memory from before the trace.
  bool frames;
  bool falls;  // true: allocations decrease the value of this line, such as free memory
  std::string_view of_what;
};
constexpr std::string_view kSlabObjects =
    "growth of the objects allocated in the trace, in the caches that this line counts; the kernel counts whole slabs, "
    "and also frees of older objects";
constexpr std::array kComparisons = {
    Comparison{"Slab", Allocator::slab, false, false, kSlabObjects},
    Comparison{"SReclaimable", Allocator::slab, false, false, kSlabObjects},
    Comparison{"SUnreclaim", Allocator::slab, false, false, kSlabObjects},
    Comparison{
        "Percpu", Allocator::percpu, false, false,
        "growth of the memory allocated in the trace; the kernel counts whole chunks, and also frees of older memory"},
    Comparison{"VmallocUsed", Allocator::vmap, false, false,
               "growth of the areas made in the trace, including guard pages and mappings of devices; the kernel "
               "counts only the pages of vmalloc"},
    Comparison{"MemFree", Allocator::pages, true, true,
               "pages freed minus pages allocated; the kernel does not count pages on the lists of CPUs as free"}};
constexpr std::string_view kZoneFrames =
    "pages returned to the zones' lists of free pages, minus pages taken from these lists; the kernel adds some "
    "changes on each CPU to its counter only later";

Points without(Points points, const Points& part) {
  // Unsigned, because sums are computed modulo 2^64.
  for (std::size_t i = 0; i < points.size() && i < part.size(); ++i)
    points[i].live_bytes = static_cast<std::int64_t>(static_cast<std::uint64_t>(points[i].live_bytes) -
                                                     static_cast<std::uint64_t>(part[i].live_bytes));
  return points;
}

// Returns the memory over time that is compared with this line of meminfo.
Points points_of(const Comparison& comparison, const Histories& histories, const GroupHistory& history) {
  if (comparison.frames) return histories.page_frames;
  if (comparison.name == "SReclaimable") return histories.reclaimable_slab;
  if (comparison.allocator != Allocator::slab) return history.series;
  const Points slab = without(history.series, histories.page_backed_slab);
  return comparison.name == "SUnreclaim" ? without(slab, histories.reclaimable_slab) : slab;
}

void add_balance(const MemorySeries& memory, const std::vector<TimeSeriesPoint>& points, bool falls,
                 std::string_view of_what, TimelineResult& result) {
  if (memory.points.size() < 2) return;
  const auto& [first_ns, first] = memory.points.front();
  const auto& [last_ns, last] = memory.points.back();
  const TimeAxis& axis = result.report.histories->axis;
  // Unsigned, because sums are modulo 2^64.
  const auto at_first = static_cast<std::uint64_t>(live_at(points, axis, first_ns));
  const auto at_last = static_cast<std::uint64_t>(live_at(points, axis, last_ns));
  const auto grown = static_cast<std::int64_t>(falls ? at_first - at_last : at_last - at_first);
  result.balances.push_back({memory.source, memory.name, first, last, first_ns, last_ns, grown, of_what});
}

void add_balances(TimelineResult& result) {
  constexpr std::size_t kMostCaches = 10;
  const Histories& histories = *result.report.histories;
  for (const MemorySeries& memory : histories.memory)
    for (const Comparison& comparison : kComparisons) {
      if (memory.source != MemorySource::meminfo || memory.name != comparison.name) continue;
      const SharedHistory& history = histories.of_allocator[static_cast<std::size_t>(comparison.allocator)];
      if (!history || std::none_of(history->series.begin(), history->series.end(),
                                   [](const TimeSeriesPoint& point) { return point.allocations > 0; }))
        continue;
      if (history->doubtful[static_cast<std::size_t>(Doubt::frees_not_recorded)].allocations > 0) continue;
      add_balance(memory, points_of(comparison, histories, *history), comparison.falls,
                  comparison.frames && histories.frames_of_zones ? kZoneFrames : comparison.of_what, result);
    }
  if (result.report.by != std::vector<GroupKey>{GroupKey::cache}) return;
  const std::size_t caches = result.balances.size();
  std::unordered_map<std::string_view, const MemorySeries*> by_name;
  for (const MemorySeries& memory : histories.memory)
    if (memory.source == MemorySource::slabinfo_objects) by_name.emplace(memory.name, &memory);
  for (const GroupTable& table : result.report.groups)
    for (const GroupRow& row : table.rows)
      if (const auto memory = by_name.find(row.name); row.history && memory != by_name.end())
        add_balance(*memory->second, row.history->series, false,
                    "growth of the objects allocated in the trace; the kernel counts objects on the lists of CPUs as "
                    "used, and also counts frees of older objects",
                    result);
  const auto begin = result.balances.begin() + static_cast<std::ptrdiff_t>(caches);
  std::stable_sort(begin, result.balances.end(), [](const Balance& a, const Balance& b) {
    return std::abs(a.last - a.first) > std::abs(b.last - b.first);
  });
  result.balances.resize(std::min(result.balances.size(), caches + kMostCaches));
}

}  // namespace

TimelineResult timeline_of(ReportResult report, const TimelineRequest& request) {
  TimelineResult result;
  result.report = std::move(report);
  TimeAxis& whole = result.report.histories->axis;
  if (whole.buckets == 0) whole = axis_of(result.report.histories->memory);
  result.axis = whole;
  const std::size_t by = joined(result.axis, request.buckets);
  result.axis.buckets = (result.axis.buckets + by - 1) / by;
  result.axis.width_ns *= by;
  add_allocators(result, by);
  add_groups(result, request.top, by);
  if (request.balances && result.report.trace.complete)
    add_balances(result);
  else
    clip(result.report.histories->memory, result.report.histories->axis);
  return result;
}

}  // namespace kmt
