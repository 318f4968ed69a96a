// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/pages.hpp"

#include <map>

#include <fmt/format.h>

#include "base/text.hpp"
#include "views/text/findings.hpp"
#include "views/text/lines.hpp"
#include "views/text/table.hpp"

namespace kmt {

namespace {

std::string totals(const PagesResult& result, const TextStyle& style) {
  const PageTaskRow& total = result.total;
  const std::uint64_t page_size = result.trace.page_size;
  std::string out = "\n" + heading("Page allocator", style);
  const auto line = [&](std::string_view label, std::uint64_t pages, const std::string& remark) {
    out += sum_line(label, say_bytes(pages * page_size, style), remark, style);
  };
  line("allocated", total.allocated.pages, "in " + say_number_of(total.allocated.events, "allocation", style));
  line("freed", total.freed.pages,
       fmt::format("in {}, {} of them batched", say_number_of(total.freed.events, "free", style),
                   say_count(total.freed_batched.events, style)));
  line("live at end", total.live_pages, "allocated in the trace and not freed");
  if (total.failed.events > 0)
    line("failed", total.failed.pages, "in " + say_number_of(total.failed.events, "allocation", style));
  line("zone lock", total.zone_locked.pages,
       fmt::format("taken from the buddy lists in {}, including {} for per-CPU lists",
                   say_number_of(total.refill_runs, "run", style), say_bytes(total.refilled.pages * page_size, style)));
  line("drained", total.drained.pages,
       fmt::format("returned from per-CPU lists in {}", say_number_of(total.drain_runs, "run", style)));
  return out;
}

std::string fragmentation(const PagesResult& result, const TextStyle& style) {
  const PageTaskRow& total = result.total;
  if (total.fallbacks.events == 0) return {};
  const std::string block = say_bytes(result.trace.page_size << result.pageblock_order, style);
  std::string out = "\n" + heading("Fragmentation", style);
  const auto line = [&](std::string_view label, const EventsAndPages& both, const std::string& remark) {
    out += sum_line(label, say_count(both.events, style), remark, style);
  };
  line("fallbacks", total.fallbacks, "allocations from page blocks of another migrate type");
  line("causing", total.fragmenting,
       fmt::format("fallbacks that fragment memory: the free block was smaller than a page block (order {}, {}{})",
                   result.pageblock_order, block,
                   result.pageblock_order_assumed ? ", assumed because the trace does not state it" : ""));
  line("severe", total.severe, "fragmenting fallbacks to blocks of order 3 or less");
  line("moderate", total.moderate, "fragmenting fallbacks to larger blocks");
  line("changed", total.ownership_changed, "fallbacks that changed the type of the whole page block");
  if (result.min_free_kbytes_step)
    out += labelled(
        "advice",
        fmt::format("fragmentation is severe: raise vm.min_free_kbytes by {} (3 page blocks {}) and measure again",
                    *result.min_free_kbytes_step,
                    result.nodes
                        ? fmt::format("for each of {}", say_number_of(*result.nodes, "node", style))
                        : "for each NUMA node; one node is assumed, since the trace does not state the number"),
        style);
  return out;
}

std::string fallback_types(const PagesResult& result, const TextStyle& style) {
  if (result.fallbacks.empty()) return {};
  std::vector<const PageFallbackRow*> rows;
  for (const PageFallbackRow& row : result.fallbacks) rows.push_back(&row);
  const Table table =
      make_table<PageFallbackRow>(page_fallback_columns(), rows, style.raw, [](const auto&) { return true; });
  return "\n" + heading("Fallbacks by migrate type", style) + to_text(table, style);
}

// Returns a table of tasks. It has all columns if the style is raw. Otherwise it has the sort column and those columns
// that are not all zero.
std::string tasks(const PagesResult& result, const PagesOptions& options, const TextStyle& style) {
  std::vector<const PageTaskRow*> rows = sorted_page_tasks(result.tasks, *options.sort);
  const std::size_t shown = options.shown(rows.size());
  const std::size_t more = rows.size() - shown;
  PageTaskRow rest;
  rest.task = fmt::format("({} more)", say_count(more, style));
  for (std::size_t i = shown; i < rows.size(); ++i) add_up(rest, *rows[i]);
  rows.resize(shown);
  if (more > 0) rows.push_back(&rest);
  rows.push_back(&result.total);

  const auto is_shown = [&](const Column<PageTaskRow>& column) {
    return style.raw || &column == options.sort || column.get(result.total) != Cell{std::uint64_t{0}};
  };
  Table table = make_table<PageTaskRow>(page_task_columns(), rows, style.raw, is_shown);
  for (std::size_t row = shown; row < rows.size(); ++row) table.rows[row].aside = true;
  // Several columns have the header "pages", so a column is identified by its position.
  std::size_t place = 0;
  for (const Column<PageTaskRow>& column : page_task_columns()) {
    if (&column == options.sort) table.columns[place].importance = 0;
    place += is_shown(column) ? 1 : 0;
  }
  const std::string part = more > 0
                               ? fmt::format("{} of {}", say_count(shown, style), say_count(result.tasks.size(), style))
                               : fmt::format("all {}", say_count(shown, style));
  return "\n" + heading(fmt::format("Tasks by {}, {}", options.sort->key, part), style) + to_text(table, style);
}

// Returns a table with one row for each order and one column for each migrate type.
std::string types(const PagesResult& result, const TextStyle& style) {
  if (result.types.empty()) return {};
  std::map<int, std::string> names;
  std::map<unsigned, std::map<int, const PageTypeRow*>> by_order;
  std::map<int, PageTypeRow> sums;
  PageTypeRow total;
  const auto add = [](PageTypeRow& sum, const PageTypeRow& row) {
    sum.allocations += row.allocations;
    sum.bytes_allocated += row.bytes_allocated;
    sum.live_bytes += row.live_bytes;
  };
  for (const PageTypeRow& row : result.types) {
    names[row.migrate_type] = row.migrate_type_name;
    by_order[row.order][row.migrate_type] = &row;
    add(sums[row.migrate_type], row);
    add(total, row);
  }

  const auto cells = [&](TableRow& row, const PageTypeRow* values) {
    static const PageTypeRow kNone;
    const PageTypeRow& shown = values != nullptr ? *values : kNone;
    row.cells.push_back(cell_text(Cell{shown.allocations}, Unit::count, style.raw));
    row.cells.push_back(cell_text(Cell{shown.bytes_allocated}, Unit::bytes, style.raw));
    row.cells.push_back(cell_text(Cell{shown.live_bytes}, Unit::bytes, style.raw));
  };
  Table table{{{"Order"}}, {}};
  unsigned importance = 10;
  for (const auto& [type, name] : names) {
    table.columns.push_back({name, false, importance});
    table.columns.push_back({"bytes", false, importance + 1});
    table.columns.push_back({"live", false, importance + 2});
    importance += 3;
  }
  for (const char* const header : {"All", "bytes", "live"}) table.columns.push_back({header, false, 1});
  for (const auto& [order, of_types] : by_order) {
    TableRow row{{fmt::format("{}", order)}, false};
    PageTypeRow sum;
    for (const auto& [type, name] : names) {
      const auto found = of_types.find(type);
      cells(row, found == of_types.end() ? nullptr : found->second);
      if (found != of_types.end()) add(sum, *found->second);
    }
    cells(row, &sum);
    table.rows.push_back(std::move(row));
  }
  TableRow last{{"total"}, true};
  for (const auto& [type, sum] : sums) cells(last, &sum);
  cells(last, &total);
  table.rows.push_back(std::move(last));
  return "\n" + heading("Allocations by order and migrate type", style) + to_text(table, style);
}

std::string failures(const PagesResult& result, const PagesOptions& options, const TextStyle& style) {
  if (result.failures.empty()) return {};
  std::vector<const PageFailureRow*> rows;
  for (const PageFailureRow& row : result.failures) rows.push_back(&row);
  const std::size_t shown = options.shown(rows.size());
  PageFailureRow rest;
  rest.task = fmt::format("({} more)", say_count(rows.size() - shown, style));
  for (std::size_t i = shown; i < rows.size(); ++i) rest.count += rows[i]->count;
  const bool more = shown < rows.size();
  rows.resize(shown);
  Table table = make_table<PageFailureRow>(page_failure_columns(), rows, style.raw, [](const auto&) { return true; });
  if (more)
    table.rows.push_back({{rest.task, "-", "-", "-", "-", cell_text(Cell{rest.count}, Unit::count, style.raw)}, true});
  return "\n" + heading("Failed page allocations", style) + to_text(table, style);
}

std::string nothing(const PagesOptions& options, const TextStyle& style) {
  if (options.filtered) return "\n" + hanging("", kNothingSelected, style);
  return "\n" + hanging("", "Nothing to report: this trace has no events of the page allocator.", style) +
         hanging("", "Record them with: kmemtrace record -e 'kmem:mm_page_*'", style);
}

}  // namespace

std::string text_pages(const PagesResult& result, const PagesOptions& options, const TextStyle& style) {
  const std::string of_what = options.filtered ? " of the page allocator, selected" : " of the page allocator";
  std::string out = trace_lines(result.trace, say_count(result.trace.events, style) + of_what, style);
  const std::string anomalies =
      anomaly_section(result.anomalies, result.findings, may_lack_events(result.trace), style);
  if (result.tasks.empty()) return out + anomalies + nothing(options, style);
  out += totals(result, style) + fragmentation(result, style) + anomalies;
  out += tasks(result, options, style);
  return out + types(result, style) + fallback_types(result, style) + failures(result, options, style);
}

}  // namespace kmt
