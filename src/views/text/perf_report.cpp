// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/perf_report.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "base/text.hpp"
#include "views/text/lines.hpp"

namespace kmt {

namespace {

std::string_view header_of(GroupKey key) {
  switch (key) {
    case GroupKey::comm: return "Command";
    case GroupKey::dso: return "Shared Object";
    default: return info_of(key).header;
  }
}

// True if this is perf's name of a kernel object, such as "[kernel.kallsyms]" or "[ext4]". Some objects that are not in
// the kernel also have names in brackets.
bool is_of_kernel(const std::string& object) {
  return object.starts_with('[') && object != "[vdso]" && object != "[vsyscall]" && object != "[unknown]" &&
         !object.starts_with("[JIT]");
}

std::string text_of(const std::vector<GroupKey>& by, const GroupRow& row, std::size_t key) {
  std::string text = printable(plain_text(row.keys[key]));
  if (by[key] == GroupKey::comm && text == "<idle>") return "swapper";
  if (by[key] != GroupKey::user_symbol) return text;
  const auto dso = std::ranges::find(by, GroupKey::dso);
  if (dso == by.end()) return text;
  const bool kernel = is_of_kernel(plain_text(row.keys[static_cast<std::size_t>(dso - by.begin())]));
  return (kernel ? "[k] " : "[.] ") + text;
}

std::uint64_t value_of(const GroupRow& row, const Column<GroupRow>* column) {
  if (column == nullptr) return row.allocations + row.failed_allocations;
  const Cell cell = column->get(row);
  const auto* const number = std::get_if<std::uint64_t>(&cell);
  return number == nullptr ? 0 : *number;
}

bool has_any(const GroupTable& table) { return !table.rows.empty(); }

// Returns the allocator whose values are shown; empty means all. As in perf, events of all allocators are counted
// together. Bytes are counted for one allocator only, because slab objects are inside pages and would count twice.
std::optional<Allocator> allocator_of(const ReportResult& result, const PerfReportOptions& options) {
  if (options.allocator || options.share_of == nullptr) return options.allocator;
  const auto first = std::ranges::find_if(result.groups, has_any);
  return first == result.groups.end() ? Allocator::slab : first->allocator;
}

}  // namespace

std::string text_perf_report(const ReportResult& result, const PerfReportOptions& options) {
  const std::vector<GroupKey> shown(result.by.begin(), result.by.begin() + static_cast<std::ptrdiff_t>(options.keys));
  const std::optional<Allocator> allocator = allocator_of(result, options);
  std::map<std::vector<std::string>, std::uint64_t> sums;
  for (const GroupTable& table : result.groups) {
    if (allocator && table.allocator != *allocator) continue;
    for (const GroupRow& row : table.rows) {
      std::vector<std::string> cells;
      for (std::size_t key = 0; key < shown.size(); ++key) cells.push_back(text_of(result.by, row, key));
      sums[std::move(cells)] += value_of(row, options.share_of);
    }
  }
  std::vector<std::pair<std::uint64_t, const std::vector<std::string>*>> lines;
  std::uint64_t total = 0;
  for (const auto& [cells, value] : sums) {
    if (value > 0) lines.emplace_back(value, &cells);
    total += value;
  }
  std::ranges::stable_sort(lines, [](const auto& a, const auto& b) { return a.first > b.first; });
  if (options.limit != 0 && lines.size() > options.limit) lines.resize(options.limit);

  std::vector<std::size_t> widths;
  for (std::size_t key = 0; key < shown.size(); ++key) {
    std::size_t width = header_of(shown[key]).size();
    for (const auto& line : lines) width = std::max(width, (*line.second)[key].size());
    widths.push_back(width);
  }
  std::string out = fmt::format("# Total Lost Samples: {}\n#\n# {}{}: {}\n#\n", result.trace.lost_events,
                                options.share_of == nullptr ? "Samples" : options.share_of->header,
                                allocator ? fmt::format(" ({})", name_of(*allocator)) : "", total);
  std::string dots = "# ........";
  out += "# Overhead";
  for (std::size_t key = 0; key < widths.size(); ++key) {
    const bool last = key + 1 == widths.size();
    out += fmt::format("  {:<{}}", header_of(shown[key]), last ? 0 : widths[key]);
    dots += "  " + std::string(widths[key], '.');
  }
  out += fmt::format("\n{}\n#\n", dots);
  for (const auto& [value, cells] : lines) {
    out += fmt::format("  {:7.2f}%", 100.0 * static_cast<double>(value) / static_cast<double>(total));
    for (std::size_t key = 0; key < widths.size(); ++key)
      out += fmt::format("  {:<{}}", (*cells)[key], key + 1 == widths.size() ? 0 : widths[key]);
    out += "\n";
  }
  return out;
}

}  // namespace kmt
