// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/report.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "results/report/leaks.hpp"
#include "views/common/shell_word.hpp"
#include "views/text/allocator_totals.hpp"
#include "views/text/findings.hpp"
#include "views/text/groups.hpp"
#include "views/text/lines.hpp"
#include "views/text/matrix.hpp"
#include "views/text/table.hpp"
#include "views/text/window.hpp"

namespace kmt {

namespace {

constexpr std::size_t kAll = ~std::size_t{0};

std::string event_list(const ReportResult& result, std::size_t most, const TextStyle& style) {
  std::string text;
  std::size_t shown = 0;
  for (const auto& [name, count] : result.events) {
    if (shown++ == most)
      return text + fmt::format(" and {} of other kinds", say_count(result.events.size() - most, style));
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", printable(name), say_count(count, style));
  }
  return text;
}

// Returns the first lines of a report. `most_kinds` is the maximum number of kinds of events that are listed.
std::string summary(const ReportResult& result, const ReportOptions& options, std::size_t most_kinds,
                    const TextStyle& style) {
  const TraceSummary& trace = result.trace;
  std::string out = trace_heading(trace, style);
  if (!trace.format.empty()) out += labelled("format", printable(trace.format), style);
  if (!trace.recorder_arguments.empty())
    out += labelled("recorded",
                    fmt::format("{} by {}", printable(trace.recorded_at), printable(trace.recorder_arguments)), style);
  out += machine_lines(trace, style);
  std::string events = say_count(trace.events, style) + (options.filtered ? " selected" : "");
  if (!result.events.empty()) events += ": " + event_list(result, most_kinds, style);
  out += labelled("events", events, style);
  if (result.calls > 0)
    out += labelled("calls",
                    fmt::format("{} of kernel functions: `kmemtrace graph {}` shows them",
                                say_number_of(result.calls, "call", style), printable(trace.path)),
                    style);
  if (trace.stacks > 0) out += labelled("stacks", say_count(trace.stacks, style) + " different kernel stacks", style);
  if (trace.user_stacks > 0)
    out += labelled("user stacks", say_count(trace.user_stacks, style) + " different stacks of programs", style);
  return out + lost_line(trace, style);
}

std::string page_orders(const ReportResult& result, const TextStyle& style) {
  if (result.page_orders.empty() || result.by != std::vector<GroupKey>{GroupKey::call_site}) return {};
  std::vector<const PageOrderRow*> rows;
  for (const PageOrderRow& row : result.page_orders) rows.push_back(&row);
  const PageOrderRow total = sum_of(result.page_orders);
  rows.push_back(&total);
  Table table = make_table<PageOrderRow>(page_order_columns(), rows, style.raw, [](const auto&) { return true; });
  table.rows.back().cells[0] = "total";
  table.rows.back().aside = true;
  return "\n" + heading("Page allocations by order", style) + to_text(table, style);
}

// Returns lines about groups with many short-lived objects. Such objects could be cached or reused.
std::string churn_lines(const ReportResult& result, std::size_t most_shown, const TextStyle& style) {
  constexpr std::uint64_t kMany = 100'000;
  constexpr std::uint64_t kLeast = 1000;
  std::uint64_t allocations = 0;
  std::vector<const GroupRow*> rows;
  for (const GroupTable& table : result.groups)
    for (const GroupRow& row : table.rows) allocations += row.allocations;
  const std::uint64_t threshold = std::max(kLeast, std::min(kMany, allocations / 20));
  for (const GroupTable& table : result.groups)
    for (const GroupRow& row : table.rows)
      if (row.lifetimes.under_1ms() >= threshold) rows.push_back(&row);
  if (rows.empty() || std::find(result.by.begin(), result.by.end(), GroupKey::lifetime) != result.by.end()) return {};
  std::stable_sort(rows.begin(), rows.end(), [](const GroupRow* a, const GroupRow* b) {
    return a->lifetimes.under_1ms() > b->lifetimes.under_1ms();
  });
  const std::size_t more = rows.size() - std::min(rows.size(), most_shown);
  rows.resize(rows.size() - more);
  std::string out = "\n" + heading("Short-lived", style);
  for (const GroupRow* row : rows) {
    std::string name;
    for (std::size_t key = 0; key < result.by.size(); ++key)
      if (applies(result.by[key], row->allocator))
        name += (name.empty() ? "" : ", ") + key_text(result.by[key], row->keys[key], style);
    out += hanging("  ",
                   fmt::format("{}: {} lived less than 1 ms, {} of this group; they could be cached or reused", name,
                               say_number_of(row->lifetimes.under_1ms(), "allocation", style),
                               say_share(row->lifetimes.under_1ms(), row->allocations)),
                   style);
  }
  return more == 0 ? out : out + emphasised(fmt::format("  ({} more)", more), Emphasis::aside, style) + "\n";
}

// Returns a short name for a table column. `check` prints full sentences instead.
std::string short_name(Imperfection kind) {
  switch (kind) {
    case Imperfection::allocated_before_trace: return "before trace";
    case Imperfection::double_free_or_untraced_allocation: return "freed again";
    case Imperfection::pages_freed_twice: return "pages twice";
    case Imperfection::allocation_on_live_pointer: return "live pointer";
    case Imperfection::free_before_allocation: return "freed early";
    case Imperfection::freed_by_another_family: return "other family";
    case Imperfection::freed_by_another_cache: return "other cache";
    case Imperfection::allocated_less_than_requested: return "too small";
    case Imperfection::failed_allocation: return "failed";
    default: return std::string(describe(kind).id);
  }
}

// Returns a table of anomalies with the two call sites of each. Explained anomalies are shown only in the raw style.
std::string anomaly_sites(const ReportResult& result, const ReportOptions& options, const TextStyle& style) {
  std::vector<const AnomalyRow*> rows;
  for (const AnomalyRow& row : result.anomaly_sites)
    if (style.raw || !row.explained) rows.push_back(&row);
  if (rows.empty()) return {};
  const std::size_t shown = shown_rows(options, rows.size());
  Table table{{{"Anomaly", style.raw},
               {"Times"},
               {"First call site", true},
               {"Second call site", true},
               {"Cache", true, 3},
               {"First at", false, 1},
               {"Last at", false, 2}},
              {}};
  for (std::size_t i = 0; i < shown; ++i) {
    const AnomalyRow& row = *rows[i];
    const auto site = [](const CodeAddress& code) { return code.address == 0 ? "-" : ascii(code.symbol); };
    table.rows.push_back(
        {{style.raw ? std::string(describe(row.kind).id) : short_name(row.kind), say_count(row.count, style),
          site(row.first), site(row.second), row.cache.empty() ? "-" : ascii(row.cache), say_seconds(row.first_ns),
          say_seconds(row.last_ns)}});
  }
  const std::string part = shown < rows.size() ? fmt::format(", {} of {}", shown, say_count(rows.size(), style)) : "";
  return "\n" + heading("Anomalies by call sites" + part, style) + to_text(table, style);
}

// Returns a table with one line per cache: how many of its objects were live at the start of the trace, and how many of
// these were freed during the trace.
std::string older_objects(const ReportResult& result, const ReportOptions& options, const TextStyle& style) {
  const std::vector<OlderObjects>& caches = result.older.caches;
  if (caches.empty() || !result.older.lived) return {};
  Table table{{{"Cache", true}, {"Freed"}, {"Lived at the start"}}, {}};
  const std::size_t shown = shown_rows(options, caches.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const OlderObjects& row = caches[i];
    table.rows.push_back({{row.cache.empty() ? "kmalloc" : ascii(row.cache), say_count(row.frees, style),
                           !row.lived  ? "unknown"
                           : row.exact ? say_count(*row.lived, style)
                                       : "<= " + say_count(*row.lived, style)}});
  }
  const std::string part = shown < caches.size() ? fmt::format(", {} of {}", shown, caches.size()) : "";
  return "\n" + heading("Objects from before the trace" + part, style) + to_text(table, style);
}

// Returns the tables of groups.
std::string group_tables(const ReportResult& result, const ReportOptions& options, const TextStyle& style) {
  if (lacks_stacks(result.by, result.trace))
    return "\n" +
           hanging(
               "",
               "No groups: kmemtrace read no stacks from this trace. Stacks in a trace in text form are not read: use "
               "the trace.dat or perf.data instead. `kmemtrace record --stacks` records stacks; --by call-site "
               "works without stacks.",
               style);
  std::string out;
  for (const GroupTable& groups : result.groups) out += text_groups(groups, result.by, options, style);
  return out;
}

std::string explained_lines(const ReportResult& result, const TextStyle& style) {
  const std::string line = explained_line(result.explained, maybe_freed_of(result), style);
  return line.empty() ? line : "\n" + line;
}

std::string nothing_to_report(const ReportResult& result, const ReportOptions& options, const TextStyle& style) {
  const TraceSummary& trace = result.trace;
  if (options.filtered && trace.events == 0) return "\n" + hanging("", kNothingSelected, style);
  std::string text = "this trace has no events";
  if (trace.events > 0)
    text = fmt::format("no kmem events in {}, but {} of other kinds: {}",
                       options.filtered ? "the selected part of this trace" : "this trace",
                       say_number_of(trace.events, "event", style), event_list(result, kAll, style));
  std::string out = "\n" + hanging("", "Nothing to report: " + text + ".", style);
  if (!options.filtered) out += hanging("", "Record them with: kmemtrace record, or: trace-cmd record -e kmem", style);
  return out;
}

// Returns the group with most live memory, and the process that allocated it, as text.
std::string most_live_text(const MostLive& most, const std::vector<GroupKey>& by, const TextStyle& style) {
  std::string text = fmt::format(" The largest part that the kernel cannot reclaim: {} with {}{} in {}",
                                 most.group == "unknown" ? "memory without a known call site" : ascii(most.group),
                                 most.is_upper_bound ? "at most " : "", say_bytes(most.live.bytes, style),
                                 say_number_of(most.live.allocations, "allocation", style));
  if (most.processes > 0 && !names_processes(by)) {
    text += ", allocated by " + printable(plain_text(most.process));
    if (most.processes > 1)
      text += fmt::format(" ({}) and {} more", say_share(most.of_process.bytes, most.live.bytes),
                          say_count(most.processes - 1, style));
  }
  return text + ".";
}

// Returns " (1.2 MiB user memory and page cache, 4.8 MiB slab pages)"; empty if the uses are unknown.
std::string uses_of_pages(const std::optional<LivePages>& pages, const TextStyle& style) {
  if (!pages || pages->user + pages->slab == 0) return {};
  const std::string slab = pages->slab == 0 ? "" : say_bytes(pages->slab, style) + " slab pages";
  return fmt::format(" ({} user memory and page cache{}{})", say_bytes(pages->user, style), slab.empty() ? "" : ", ",
                     slab);
}

// Returns how much of the allocated memory is live, who allocated most of it, and which command judges whether it
// leaks.
std::string conclusion(const ReportResult& result, const TextStyle& style) {
  const std::string pages = has_pages(result.pages) ? say_bytes(result.pages.live_bytes, style) + " of pages" +
                                                          uses_of_pages(result.live_pages, style)
                                                    : "";
  std::string text = has_events(result.slab) ? say_bytes(result.slab.live_bytes, style) + " of slab objects" : "";
  if (!pages.empty()) text += (text.empty() ? "" : " and ") + pages;
  if (text.empty() || style.raw) return {};
  const bool is_upper_bound = result.slab.maybe_freed.allocations > 0 || result.pages.maybe_freed.allocations > 0;
  text = fmt::format("Live at the end of the trace: {}", is_upper_bound ? "at most " : "") + text +
         " that were allocated in it.";
  if (result.most_live && !lacks_stacks(result.by, result.trace))
    text += most_live_text(*result.most_live, result.by, style);
  const std::string next =
      fmt::format("`kmemtrace leaks {}` judges whether this memory grows.", printable(shell_word(result.trace.path)));
  return "\n" + hanging("", text, style) + hanging("Next: ", next, style);
}

// Returns a line about the parts that a brief report leaves out. Empty if it leaves out nothing.
std::string cut_line(const ReportResult& result, std::size_t groups, const std::vector<std::string>& sections,
                     const TextStyle& style) {
  std::string omitted;
  const auto add = [&omitted](const std::string& what) { omitted += (omitted.empty() ? "" : ", ") + what; };
  if (groups > 0) add(say_number_of(groups, "group", style));
  std::ranges::for_each(sections, add);
  if (!std::ranges::all_of(result.anomaly_sites, &AnomalyRow::explained)) add("anomalies by call sites");
  if (!result.older.caches.empty() && result.older.lived) add("objects from before the trace");
  if (!result.page_orders.empty()) add("page allocations by order");
  if (!result.memory.rows.empty()) add("/proc/meminfo");
  if (omitted.empty()) return {};
  return "\n" + hanging("", fmt::format("Not shown: {}. To see all: --limit 0.", omitted), style);
}

// The parts of a brief report that are left out if there is no room.
struct BriefParts {
  bool has_small_allocators = false;  // true: the totals of percpu memory and vmalloc areas are shown
  std::size_t rows = 0;               // number of rows of the first table
  bool has_all_tables = false;        // true: other tables are shown too, with a few rows
  bool has_churn = false;             // true: the section of short-lived groups is shown
};

// Returns the tables of a brief report. `churn` is the section of short-lived groups, if there are any.
std::string brief_text(const ReportResult& result, const ReportOptions& options, const BriefParts& parts,
                       const std::string& churn, const TextStyle& style) {
  constexpr std::size_t kRowsOfOtherTables = 3;
  std::string out;
  std::size_t cut = 0;
  for (const GroupTable& groups : result.groups) {
    const bool is_first = &groups == &result.groups.front();
    if (!is_first && !parts.has_all_tables) {
      cut += groups.rows.size();
      continue;
    }
    ReportOptions brief = options;
    brief.limit = is_first ? parts.rows : kRowsOfOtherTables;
    cut += groups.rows.size() - shown_rows(brief, groups.rows.size());
    out += text_groups(groups, result.by, brief, style);
  }
  if (parts.has_churn) out += churn;
  std::vector<std::string> sections;
  if (!parts.has_small_allocators) sections.emplace_back("percpu memory, vmalloc areas");
  if (!churn.empty() && !parts.has_churn) sections.emplace_back("short-lived groups");
  return out + cut_line(result, cut, sections, style);
}

// Returns the largest groups, as many as the report has room for after `used` lines.
std::string brief_groups(const ReportResult& result, const ReportOptions& options, std::size_t used,
                         bool has_small_allocators, const TextStyle& style) {
  constexpr std::size_t kMostRows = 12;
  constexpr std::size_t kFewestRows = 3;
  // Each choice states whether all tables are shown, and whether short-lived groups are shown.
  constexpr std::array<std::pair<bool, bool>, 3> kChoices = {{{true, true}, {false, true}, {false, false}}};
  constexpr std::size_t kShortLived = 3;
  const std::string churn = churn_lines(result, kShortLived, style);
  std::string out;
  for (const auto& [has_all_tables, has_churn] : kChoices)
    for (std::size_t rows = kMostRows;;) {
      out = brief_text(result, options, {has_small_allocators, rows, has_all_tables, has_churn}, churn, style);
      const std::size_t lines = used + lines_in(out);
      if (lines <= kBriefLines) return out;
      if (rows == kFewestRows) break;
      rows -= std::min(rows - kFewestRows, lines - kBriefLines);  // removes one row for each line that is too much
    }
  return out;
}

// Returns the last sections of a report that is not brief.
std::string sections_after_groups(const ReportResult& result, const ReportOptions& options, const TextStyle& style) {
  constexpr std::size_t kMostShortLived = 10;
  if (!result.matrices.empty()) return {};
  std::string out = lacks_stacks(result.by, result.trace) ? "" : churn_lines(result, kMostShortLived, style);
  out += page_orders(result, style);
  out += anomaly_sites(result, options, style);
  out += older_objects(result, options, style);
  return out + memory_lines(result.memory, style);
}

// Returns the report as text. With `is_narrow`, leaves out parts of the first lines, because a narrow terminal breaks
// them into many lines.
std::string text_of(const ReportResult& result, const ReportOptions& options, bool is_narrow, const TextStyle& style) {
  constexpr std::size_t kKindsIfNarrow = 3;
  std::string out = summary(result, options, is_narrow ? kKindsIfNarrow : kAll, style);
  const std::string anomalies =
      explained_lines(result, style) +
      anomaly_section(result.anomalies, result.findings, may_lack_events(result.trace), style, result.explained);
  if (!has_events(result.slab) && !has_pages(result.pages) && !has_events(result.percpu) && !has_events(result.vmalloc))
    return out + anomalies + nothing_to_report(result, options, style);
  // Totals of the whole trace would be mistaken for totals of the window.
  if (result.window) return out + window_lines(result, style) + group_tables(result, options, style) + anomalies;
  const std::string verdict = conclusion(result, style);
  const std::string totals = slab_lines(result.slab, !is_narrow, style) + page_lines(result.pages, style);
  const std::string small_allocators = percpu_lines(result.percpu, style) + vmalloc_lines(result.vmalloc, style);
  if (options.is_brief && result.matrices.empty()) {
    out += verdict + totals;
    constexpr std::size_t kFewestLinesOfGroups = 12;
    const bool has_small_allocators =
        small_allocators.empty() ||
        lines_in(out) + lines_in(small_allocators) + lines_in(anomalies) + kFewestLinesOfGroups <= kBriefLines;
    if (has_small_allocators) out += small_allocators;
    out += anomalies;
    return out + brief_groups(result, options, lines_in(out), has_small_allocators, style);
  }
  const std::string tables = result.matrices.empty() ? group_tables(result, options, style)
                                                     : text_matrices(result.matrices, result.by, options, style);
  const std::string rest = totals + small_allocators + anomalies;
  if (!options.table_first) return out + verdict + rest + tables + sections_after_groups(result, options, style);
  // If the user asked for a table, the title of the table must be within the first 24 lines, after a blank line.
  constexpr std::size_t kFirstScreen = 24;
  const bool has_room = lines_in(out) + lines_in(verdict) + 2 <= kFirstScreen;
  out += has_room ? verdict + tables : tables + verdict;
  return out + rest + sections_after_groups(result, options, style);
}

}  // namespace

std::string text_report(const ReportResult& result, const ReportOptions& options, const TextStyle& style) {
  if (options.table_first) return text_of(result, options, true, style);
  std::string out = text_of(result, options, false, style);
  if (options.is_brief && lines_in(out) > kBriefLines) out = text_of(result, options, true, style);
  return out;
}

}  // namespace kmt
