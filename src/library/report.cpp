// SPDX-License-Identifier: GPL-2.0-or-later
#include <kmemtrace/report.hpp>

#include <algorithm>

#include "library/analyse.hpp"
#include "views/json/report.hpp"

namespace kmemtrace {

namespace {

constexpr std::string_view name_of(kmt::Unit unit) {
  switch (unit) {
    case kmt::Unit::text: return "text";
    case kmt::Unit::address: return "address";
    case kmt::Unit::count: return "count";
    case kmt::Unit::bytes: return "bytes";
    case kmt::Unit::percent: return "percent";
    case kmt::Unit::order: return "order";
    case kmt::Unit::duration: return "duration";
    case kmt::Unit::time: return "time";
    case kmt::Unit::rate: return "rate";
    case kmt::Unit::bytes_per_s: return "bytes/s";
  }
  return "";
}

Analysed analyse_by(const std::string& path, const ReportOptions& options) {
  kmt::ReportRequest request;
  request.by = keys_named(options.by);
  return analyse(path, options.kallsyms, std::move(request));
}

const kmt::Column<kmt::GroupRow>& sort_column(const ReportOptions& options) {
  return kmt::group_columns()[column(options.sort)];
}

Totals public_totals(const kmt::ReportResult& result, kmt::Allocator allocator) {
  const kmt::AllocatorTotals& of = kmt::totals_of(result, allocator);
  Totals totals;
  totals.allocator = kmt::name_of(allocator);
  totals.allocations = of.allocations;
  totals.failed_allocations = of.failed_allocations;
  totals.frees = of.frees;
  totals.bytes_requested = of.bytes_requested;
  totals.bytes_allocated = of.bytes_allocated;
  totals.bytes_freed = of.bytes_freed;
  totals.live_allocations = of.live_allocations;
  totals.live_bytes = of.live_bytes;
  totals.peak_bytes = of.peak_bytes;
  totals.knows_bytes = of.knows_bytes;
  return totals;
}

Value value_of(const kmt::Cell& cell) {
  if (const auto* number = std::get_if<std::uint64_t>(&cell)) return *number;
  if (const auto* number = std::get_if<double>(&cell)) return *number;
  if (const auto* text = std::get_if<std::string_view>(&cell)) return std::string(*text);
  return {};
}

Group group_of(const kmt::GroupRow& row) {
  Group group;
  group.allocator = kmt::name_of(row.allocator);
  for (const kmt::KeyValue& key : row.keys) group.keys.push_back(kmt::plain_text(key));
  for (const auto& column : kmt::group_columns())
    if (!column.needs_window) group.values.push_back(value_of(column.get(row)));
  return group;
}

}  // namespace

std::vector<std::string_view> group_keys() {
  std::vector<std::string_view> names;
  for (const kmt::GroupKeyInfo& info : kmt::group_keys()) names.push_back(info.name);
  return names;
}

const std::vector<Column>& columns() {
  static const std::vector<Column> kColumns = [] {
    std::vector<Column> all;
    for (const auto& column : kmt::group_columns())
      if (!column.needs_window) all.push_back({column.key, name_of(column.unit), column.meaning});
    return all;
  }();
  return kColumns;
}

std::size_t column(std::string_view key) {
  const auto found = std::ranges::find(columns(), key, &Column::key);
  if (found == columns().end())
    throw Error("Unknown column \"" + std::string(key) + "\"", "", {}, "columns() lists them");
  return static_cast<std::size_t>(found - columns().begin());
}

Report report(const std::string& path, const ReportOptions& options) {
  return guarded([&] {
    const auto& by = sort_column(options);
    const Analysed analysed = analyse_by(path, options);
    const kmt::ReportResult& result = analysed.result;
    Report report;
    report.machine = analysed.machine;
    report.events = result.trace.events;
    report.lost_events = result.trace.lost_events;
    report.findings = findings_of(result.findings);
    for (std::size_t i = 0; i < kmt::kAllocators; ++i)
      report.totals.push_back(public_totals(result, static_cast<kmt::Allocator>(i)));
    for (const kmt::GroupTable& table : result.groups)
      for (const kmt::GroupRow* const row : kmt::sorted_rows(table.rows, by)) report.groups.push_back(group_of(*row));
    return report;
  });
}

std::string report_json(const std::string& path, const ReportOptions& options) {
  return guarded([&] {
    kmt::ReportOptions view;
    view.sort = &sort_column(options);
    view.limit = 0;
    return kmt::json_report(analyse_by(path, options).result, view);
  });
}

}  // namespace kmemtrace
