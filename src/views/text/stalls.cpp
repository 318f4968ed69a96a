// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/stalls.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "views/common/stall_names.hpp"
#include "views/text/findings.hpp"
#include "views/text/groups.hpp"
#include "views/text/lines.hpp"
#include "views/text/table.hpp"

namespace kmt {

namespace {

// Returns the kinds of waiting in these sums, longest first.
std::vector<StallKind> kinds_in(const WaitSums& sums) {
  std::vector<StallKind> kinds;
  for (std::size_t kind = 0; kind < kWaitKinds; ++kind)
    if (sums.own_ns[kind] > 0) kinds.push_back(static_cast<StallKind>(kind));
  std::ranges::stable_sort(kinds, std::ranges::greater{},
                           [&](StallKind kind) { return sums.own_ns[static_cast<std::size_t>(kind)]; });
  return kinds;
}

// Returns a text such as "80% direct reclaim, 20% compaction".
std::string shares_of(const WaitSums& sums) {
  std::vector<std::string> parts;
  for (const StallKind kind : kinds_in(sums))
    parts.push_back(
        fmt::format("{} {}", say_share(sums.own_ns[static_cast<std::size_t>(kind)], sums.total_ns), name_of(kind)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string memory_text(const Wait& wait, const TextStyle& style) {
  if (!wait.memory) return "unknown";
  const AwaitedMemory& memory = *wait.memory;
  std::string text = say_bytes(memory.bytes_requested, style);
  if (memory.allocator == "pages")
    text += " of pages";
  else if (memory.by_kmalloc)
    text += " by kmalloc";
  else
    text += memory.cache.empty() ? " from an unknown cache" : " " + ascii(memory.cache);
  if (!memory.call_site.empty()) text += " in " + ascii(memory.call_site);
  if (memory.failed) text += ", which failed";
  return text;
}

// Returns a sentence such as "It was for 32 KiB by kmalloc in do_it (order 3); 38 ms of the wait were in compaction."
std::string longest_sentence(const Wait& wait, const TextStyle& style) {
  std::string text = "It was for " + memory_text(wait, style);
  if (wait.order) text += fmt::format(" (order {})", *wait.order);
  const std::vector<StallKind> kinds = kinds_in(wait.sums);
  if (kinds.empty()) return text + ".";
  return text + fmt::format("; {} of the wait were {}{}.",
                            say_duration(wait.sums.own_ns[static_cast<std::size_t>(kinds.front())], style),
                            kinds.front() == StallKind::throttled ? "" : "in ", name_of(kinds.front()));
}

std::string stall_verdict(const StallsResult& result, const TextStyle& style) {
  const std::string time = say_duration(result.trace.recorded_ns, style);
  if (result.total.waits == 0) return fmt::format("No task waited for memory in {}.", time);
  std::string text =
      fmt::format("Tasks waited {} for memory in {}, in {}: {}. The longest wait took {}.",
                  say_duration(result.total.total_ns, style), time, say_number_of(result.total.waits, "wait", style),
                  shares_of(result.total), say_duration(result.total.longest_ns, style));
  if (!result.longest.empty() && result.longest.front().memory)
    text += " " + longest_sentence(result.longest.front(), style);
  if (result.some_ns && result.trace.recorded_ns > 0)
    text += fmt::format(" At least one task waited during {} of the time.",
                        say_share(*result.some_ns, result.trace.recorded_ns));
  return text;
}

std::string stall_remarks(const StallsResult& result, const TextStyle& style) {
  std::string out;
  if (result.uncertain_stalls > 0)
    out += labelled("uncertain",
                    say_number_of(result.uncertain_stalls, "stall", style) +
                        " not counted: events are missing, or the stall began before the trace",
                    style);
  if (result.unfinished_waits > 0)
    out += labelled("unfinished",
                    say_number_of(result.unfinished_waits, "wait", style) + " counted only up to the end of the trace",
                    style);
  if (result.counts.oom_victims > 0)
    out += labelled("OOM killer",
                    say_number_of(result.counts.oom_victims, "process", style) + " chosen as victim (oom:mark_victim)",
                    style);
  std::vector<std::string> counters;
  for (const auto& [name, rise] : result.kernel_counters)
    if (rise > 0) counters.push_back(fmt::format("{} {}", name, say_count(rise, style)));
  if (!counters.empty())
    out += labelled("vmstat", fmt::format("rose by: {} (all tasks)", fmt::join(counters, ", ")), style);
  return out;
}

std::string stall_kinds(const StallsResult& result, const TextStyle& style) {
  if (result.kinds.empty()) return {};
  Table table{{{"Kind", true}, {"Stalls"}, {"Time"}, {"own"}, {"Longest"}, {"Reclaimed"}}, {}};
  for (const StallKindRow& row : result.kinds)
    table.rows.push_back(
        {{std::string(name_of(row.kind)), say_count(row.stalls, style), say_duration(row.total_ns, style),
          say_duration(row.own_ns, style), say_duration(row.longest_ns, style),
          say_bytes(row.reclaimed_pages * result.trace.page_size, style)},
         false});
  return "\n" + heading("Stalls by kind (own: without nested stalls)", style) + to_text(table, style);
}

void add_cells(TableRow& row, const WaitSums& sums, const StallsResult& result, const TextStyle& style) {
  row.cells.push_back(say_count(sums.waits, style));
  row.cells.push_back(say_duration(sums.total_ns, style));
  row.cells.push_back(say_share(sums.total_ns, result.total.total_ns));
  row.cells.push_back(say_duration(sums.longest_ns, style));
  for (const StallKind kind : kinds_in(result.total))
    row.cells.push_back(say_duration(sums.own_ns[static_cast<std::size_t>(kind)], style));
  row.cells.push_back(say_bytes(sums.reclaimed_pages * result.trace.page_size, style));
}

// Returns a table with a row for each group. `cells_of` returns the cells of a group's keys, one for each of `keys`.
template <typename Group, typename CellsOf>
std::string wait_table(const std::vector<std::string>& keys, const std::vector<Group>& groups, CellsOf cells_of,
                       const StallsResult& result, const PagesOptions& options, const TextStyle& style) {
  Table table;
  for (const std::string& key : keys) table.columns.push_back({key, true});
  table.columns.insert(table.columns.end(), {{"Waits"}, {"Time"}, {"share"}, {"Longest", false, 3}});
  for (const StallKind kind : kinds_in(result.total)) table.columns.push_back({std::string(name_of(kind)), false, 5});
  table.columns.push_back({"Reclaimed", false, 4});
  const std::size_t shown = options.shown(groups.size());
  WaitSums rest;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i >= shown) {
      rest.add(groups[i].sums);
      continue;
    }
    TableRow row{cells_of(groups[i]), false};
    add_cells(row, groups[i].sums, result, style);
    table.rows.push_back(std::move(row));
  }
  if (shown < groups.size()) {
    TableRow row{{fmt::format("({} more)", say_count(groups.size() - shown, style))}, true};
    row.cells.resize(keys.size());
    add_cells(row, rest, result, style);
    table.rows.push_back(std::move(row));
  }
  return "\n" + heading(fmt::format("Waits by {}", fmt::join(keys, ", ")), style) + to_text(table, style);
}

std::string wait_groups(const std::string& key, const std::vector<WaitGroup>& groups, const StallsResult& result,
                        const PagesOptions& options, const TextStyle& style) {
  const bool is_unknown = groups.size() == 1 && groups.front().name == "unknown";
  if (groups.empty() || is_unknown) return {};
  const auto cells_of = [](const WaitGroup& group) { return std::vector<std::string>{ascii(group.name)}; };
  return wait_table({key}, groups, cells_of, result, options, style);
}

// Returns the frames of the stacks of the shown groups, if the groups are by stack.
std::string stacks_of_groups(const StallsResult& result, const PagesOptions& options, const TextStyle& style) {
  std::vector<GroupRow> rows(options.shown(result.groups.size()));
  std::vector<const GroupRow*> pointers;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].keys = result.groups[i].keys;
    pointers.push_back(&rows[i]);
  }
  return stack_lines(result.by, pointers, style);
}

// Returns the table of the groups by the requested keys.
std::string key_groups(const StallsResult& result, const PagesOptions& options, const TextStyle& style) {
  std::vector<std::string> keys;
  for (const GroupKey key : result.by) keys.emplace_back(info_of(key).header);
  std::size_t number = 0;
  const auto cells_of = [&](const WaitRow& row) {
    std::vector<std::string> cells;
    ++number;
    for (std::size_t i = 0; i < result.by.size(); ++i)
      cells.push_back((result.by[i] == GroupKey::stack ? fmt::format("#{} ", number) : "") +
                      key_text(result.by[i], row.keys[i], style));
    return cells;
  };
  return wait_table(keys, result.groups, cells_of, result, options, style) + stacks_of_groups(result, options, style);
}

std::string background_work(const StallsResult& result, const TextStyle& style) {
  if (result.background.empty()) return {};
  Table table{{{"Task", true}, {"Wakeups"}, {"Awake"}, {"compaction"}, {"throttled"}}, {}};
  for (const BackgroundRow& row : result.background)
    table.rows.push_back({{ascii(row.task), say_count(row.wakeups, style), say_duration(row.awake_ns, style),
                           say_duration(row.compaction_ns, style), say_duration(row.throttled_ns, style)},
                          false});
  return "\n" + heading("Background reclaim and compaction", style) + to_text(table, style);
}

std::string scans(const StallsResult& result, const TextStyle& style) {
  if (result.scans.empty()) return {};
  Table table{{{"Scanned by", true}, {"Node"}, {"Scanned"}, {"Reclaimed"}, {"share"}}, {}};
  for (const ScanRow& row : result.scans)
    table.rows.push_back({{std::string(name_of(row.scanner)), row.node ? fmt::format("{}", *row.node) : "-",
                           say_bytes(row.scanned_pages * result.trace.page_size, style),
                           say_bytes(row.reclaimed_pages * result.trace.page_size, style),
                           say_share(row.reclaimed_pages, row.scanned_pages)},
                          false});
  return "\n" + heading("Pages scanned on inactive lists", style) + to_text(table, style);
}

std::string no_stalls(const StallsResult& result, const PagesOptions& options, const TextStyle& style) {
  if (result.recorded && options.filtered) return "\n" + hanging("", kNothingSelected, style);
  if (result.recorded) return {};
  return "\n" + hanging("", "Nothing to report: this trace has no events of stalls.", style) +
         hanging("", "Record them with: kmemtrace record --stalls", style);
}

}  // namespace

std::string longest_waits(const StallsResult& result, const PagesOptions& options, const TextStyle& style) {
  if (result.longest.empty()) return {};
  Table table{{{"At"}, {"Task", true}, {"Time"}, {"Order"}, {"Kinds", true, 3}, {"Memory", true, 1}}, {}};
  for (std::size_t i = 0; i < options.shown(result.longest.size()); ++i) {
    const Wait& wait = result.longest[i];
    table.rows.push_back(
        {{say_seconds(wait.began_ns), ascii(wait.task), say_duration(wait.sums.total_ns, style),
          wait.order ? fmt::format("{}", *wait.order) : "-", shares_of(wait.sums), memory_text(wait, style)},
         false});
  }
  return "\n" + heading("Longest waits", style) + to_text(table, style);
}

std::string text_stalls(const StallsResult& result, const PagesOptions& options, const TextStyle& style) {
  std::string out = trace_lines(
      result.trace, say_count(result.trace.events, style) + (options.filtered ? " of stalls, selected" : " of stalls"),
      style);
  if (result.recorded)
    out = hanging("", stall_verdict(result, style), style) + "\n" + out + stall_remarks(result, style);
  out += anomaly_section({}, result.findings, may_lack_events(result.trace), style);
  if (result.trace.events == 0) return out + no_stalls(result, options, style);
  if (!result.by.empty())
    return out + (result.groups.empty() ? "" : key_groups(result, options, style)) +
           longest_waits(result, options, style);
  out += stall_kinds(result, style);
  out += wait_groups("process", result.processes, result, options, style);
  out += wait_groups("cgroup", result.cgroups, result, options, style);
  out += wait_groups("call site", result.call_sites, result, options, style);
  out += wait_groups("order", result.orders, result, options, style);
  out += wait_groups("GFP flags", result.gfp_flags, result, options, style);
  out += longest_waits(result, options, style);
  return out + background_work(result, style) + scans(result, style);
}

}  // namespace kmt
