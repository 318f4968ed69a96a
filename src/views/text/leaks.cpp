// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/leaks.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include <fmt/format.h>

#include "base/text.hpp"
#include "views/text/findings.hpp"
#include "views/text/groups.hpp"
#include "views/text/lines.hpp"
#include "views/text/plot.hpp"
#include "views/text/table.hpp"

namespace kmt {

namespace {

constexpr std::size_t kSparkline = 12;  // columns

// How much of the tables is shown.
struct Extent {
  std::size_t growing;  // number of growing groups per allocator
  std::size_t others;   // number of groups per allocator, if none grows
  std::size_t stacks;   // number of stacks, if only those of growing groups are shown
  std::size_t frames;   // number of frames per stack; 0: all
};
// Extents of a brief report. It has the first one that leaves the report short enough.
constexpr std::array<Extent, 7> kBriefExtents = {
    {{6, 3, 2, 5}, {5, 3, 2, 5}, {4, 3, 2, 5}, {4, 2, 2, 4}, {3, 2, 1, 5}, {2, 1, 1, 4}, {1, 1, 1, 3}}};
constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
constexpr Extent kEverything = {kAll, kAll, kAll, 0};

using Rows = std::vector<const LeakRow*>;

bool is_growing(const LeakRow& row) { return row.verdict >= LeakVerdict::uneven; }

bool any_is_growing(const LeaksResult& result) {
  return std::ranges::any_of(result.tables,
                             [](const LeakTable& table) { return std::ranges::any_of(table.rows, is_growing); });
}

std::size_t count_growing(const LeakTable& table) {
  return static_cast<std::size_t>(std::ranges::count_if(table.rows, is_growing));
}

// Returns the growth to which the verdict refers.
const Trend& judged_trend(const LeakRow& row) { return row.verdict == LeakVerdict::certain ? row.certain : row.trend; }

// Returns the rows to show, in order.
Rows shown_rows(const LeakTable& table, const LeaksResult& result, const LeaksOptions& options, const Extent& extent) {
  Rows rows = sorted_leaks(table.rows, *options.sort);
  std::size_t most = options.shown(rows.size());
  if (options.is_brief && any_is_growing(result))
    most = std::min({most, count_growing(table), extent.growing});
  else if (options.is_brief)
    most = std::min(most, extent.others);
  rows.resize(most);
  return rows;
}

// Returns the rows of all tables whose stacks are shown, the most certain and fastest growth first.
Rows rows_with_stacks(const LeaksResult& result, const LeaksOptions& options, const Extent& extent) {
  Rows rows;
  if (options.stacks == StacksShown::none) return rows;
  for (const LeakTable& table : result.tables) {
    if (table.whole) continue;
    for (const LeakRow* row : shown_rows(table, result, options, extent))
      if (options.stacks == StacksShown::all || is_growing(*row)) rows.push_back(row);
  }
  std::ranges::stable_sort(rows, [](const LeakRow* a, const LeakRow* b) {
    return a->verdict != b->verdict ? a->verdict > b->verdict
                                    : judged_trend(*a).bytes_per_s > judged_trend(*b).bytes_per_s;
  });
  if (options.stacks == StacksShown::growing) rows.resize(std::min(rows.size(), extent.stacks));
  return rows;
}

std::string title_of(const LeakTable& table, const LeaksOptions& options, std::size_t shown, const TextStyle& style) {
  const std::string name = capitalised(table.allocator);
  if (table.whole) return name + ", live at the end";
  const std::size_t total = table.rows.size();
  const std::string part = shown < total ? fmt::format("{} of {}", say_count(shown, style), say_count(total, style))
                                         : fmt::format("all {}", say_count(total, style));
  return fmt::format("{}, live at the end, by {}, {}", name, options.sort->header, part);
}

std::string over_time(const LeakRow& row, const TextStyle& style) {
  std::vector<double> values;
  for (const TimeSeriesPoint& point : row.group.history->series)
    values.push_back(static_cast<double>(point.live_bytes));
  return sparkline(values, kSparkline, style);
}

// Returns a sparkline of object counts by age. The youngest objects are on the left, and objects as old as the
// recording are on the right. Each bar stands for ages four times as high as the bar to its left.
std::string ages(const LeakRow& row, const TimeAxis& axis, const TextStyle& style) {
  constexpr std::size_t kBars = 10;
  const std::uint64_t longest = std::max<std::uint64_t>(axis.end_ns - axis.start_ns, 1);
  std::vector<double> counts(kBars);
  for (const Lifetimes::Bucket& bucket : row.group.history->ages.buckets()) {
    const std::uint64_t times_younger = longest / std::max<std::uint64_t>(bucket.from_ns, 1);
    // the rightmost bar has number 1 and is for objects at least a quarter as old as the recording
    const std::size_t from_right = static_cast<std::size_t>(std::bit_width(times_younger) + 1) / 2;
    counts[kBars - std::clamp<std::size_t>(from_right, 1, kBars)] += static_cast<double>(bucket.count);
  }
  return sparkline(counts, kBars, style);
}

bool is_shown(const Column<LeakRow>& column, const Rows& rows, const LeaksOptions& options, const TextStyle& style,
              bool has_clock) {
  if (column.key == "name") return false;
  if (column.unit == Unit::duration && !has_clock) return false;
  if (style.raw || &column == options.sort) return true;
  if (column.key == "uncertain" || column.key == "reason" || column.key == "certain-growth")
    return std::any_of(rows.begin(), rows.end(), [](const LeakRow* row) { return row->doubtful.allocations > 0; });
  return column.importance < 10;
}

// Names the process with most live bytes and the number of other processes, or the name of many processes.
std::string holders_of(const LeakRow& row, const TextStyle& style) {
  const GroupHistory& history = *row.group.history;
  if (history.holders.empty()) return "-";
  const LiveHolder& largest = history.holders.front();
  if (const LiveName* const name = history.names.empty() ? nullptr : &history.names.front();
      name != nullptr && name->is_of_many(largest.live.bytes))
    return fmt::format("{} ({} processes)", printable(name->name), say_count(name->processes, style));
  const std::string most = printable(plain_text(largest.process));
  return history.holders_in_all == 1 ? most : fmt::format("{}, {} more", most, history.holders_in_all - 1);
}

// True if the frames of the stacks follow the table. If the caller is also a key, the table only has the numbers of the
// stacks.
bool frames_follow(const std::vector<GroupKey>& by, GroupKey key) {
  return key == GroupKey::stack && std::find(by.begin(), by.end(), GroupKey::caller) != by.end();
}

Table table_of(const LeakTable& leaks, const Rows& rows, const std::vector<GroupKey>& by, const LeaksOptions& options,
               const TextStyle& style, bool has_clock, const TimeAxis& axis) {
  Table table;
  table.rows.resize(rows.size());
  if (leaks.whole) {
    table.columns.push_back({"Of", true});
    for (TableRow& row : table.rows) row.cells.push_back("all");
  }
  for (std::size_t key = 0; key < by.size(); ++key) {
    if (!applies(by[key], leaks.allocator)) continue;
    if (frames_follow(by, by[key])) {
      table.columns.insert(table.columns.begin(), {"#"});
      for (std::size_t i = 0; i < rows.size(); ++i)
        table.rows[i].cells.insert(table.rows[i].cells.begin(), fmt::format("{}", i + 1));
      continue;
    }
    table.columns.push_back({std::string(info_of(by[key]).header), true});
    for (std::size_t i = 0; i < rows.size(); ++i)
      table.rows[i].cells.push_back(key_text(by[key], rows[i]->group.keys[key], style));
  }
  for (const Column<LeakRow>& column : leak_columns()) {
    if (!is_shown(column, rows, options, style, has_clock)) continue;
    table.columns.push_back({std::string(column.header), false, &column == options.sort ? 0 : column.importance});
    for (std::size_t i = 0; i < rows.size(); ++i)
      table.rows[i].cells.push_back(cell_text(column.get(*rows[i]), column.unit, style.raw));
  }
  if (!names_processes(by)) {
    table.columns.push_back({"Process", true, 2});
    for (std::size_t i = 0; i < rows.size(); ++i) table.rows[i].cells.push_back(holders_of(*rows[i], style));
  }
  table.columns.push_back({"Over time", false, 3});
  for (std::size_t i = 0; i < rows.size(); ++i) table.rows[i].cells.push_back(over_time(*rows[i], style));
  table.columns.push_back({"Ages", false, 5});
  for (std::size_t i = 0; i < rows.size(); ++i) table.rows[i].cells.push_back(ages(*rows[i], axis, style));
  return table;
}

std::string leak_table(const LeakTable& leaks, const LeaksResult& result, const LeaksOptions& options,
                       const Extent& extent, const TextStyle& style) {
  const Rows rows = shown_rows(leaks, result, options, extent);
  if (rows.empty()) return {};
  std::string out =
      "\n" + heading(title_of(leaks, options, rows.size(), style), style) +
      to_text(table_of(leaks, rows, result.by, options, style, result.trace.clock_in_ns, result.axis), style);
  if (leaks.allocator == Allocator::pages) out += hanging("  ", "This includes slab pages and user memory.", style);
  if (leaks.older_frees > 0) {
    const std::string of =
        leaks.allocator == Allocator::slab && result.older_lived
            ? fmt::format(" (at most {} were live when the trace started)", say_count(*result.older_lived, style))
            : "";
    out += hanging(
        "  ",
        fmt::format("The trace also has {} of older objects{}. Memory that outlives the trace looks like growth.",
                    say_number_of(leaks.older_frees, "free", style), of),
        style);
  }
  const Rows with_stack = rows_with_stacks(result, options, extent);
  std::vector<const GroupRow*> groups;
  for (const LeakRow* row : rows)
    groups.push_back(std::ranges::find(with_stack, row) == with_stack.end() ? nullptr : &row->group);
  return out + stack_lines(result.by, groups, style, extent.frames);
}

// Returns details of the reason why memory in this trace is uncertain.
std::string circumstance(Doubt doubt, const LeaksResult& result) {
  if (doubt == Doubt::lost_stretch && result.lost_until_ns > 0 && result.trace.clock_in_ns)
    return fmt::format("; the last loss ends at {}", say_seconds(result.lost_until_ns));
  if (doubt != Doubt::incomplete_trace) return "";
  std::string text;
  for (const Imperfection kind : result.incomplete) text += fmt::format("; {}", describe(kind).sentence);
  return text;
}

std::string name_of_group(const LeakRow& row, const std::vector<GroupKey>& by, const TextStyle& style) {
  std::string name;
  for (std::size_t key = 0; key < by.size(); ++key) {
    if (!applies(by[key], row.group.allocator) || frames_follow(by, by[key])) continue;
    const bool bare = std::holds_alternative<std::uint64_t>(row.group.keys[key]);  // "order 0"
    name += fmt::format("{}{}{}", name.empty() ? "" : ", ", bare ? fmt::format("{} ", info_of(by[key]).name) : "",
                        key_text(by[key], row.group.keys[key], style));
  }
  return fmt::format("{} ({})", name.empty() ? "all" : name, name_of(row.group.allocator));
}

std::string doubt_lines(const LeaksResult& result, const LeaksOptions& options, const TextStyle& style) {
  std::string out;
  for (std::size_t i = 0; i < kDoubts; ++i) {
    const auto doubt = static_cast<Doubt>(i);
    LiveCount sum;
    bool knows_bytes = false;
    for (const LeakTable& table : result.tables)
      for (const LeakRow& row : table.rows) {
        sum.allocations += row.group.history->doubtful[i].allocations;
        sum.bytes += row.group.history->doubtful[i].bytes;
        knows_bytes = knows_bytes || (row.group.knows_bytes && row.group.history->doubtful[i].allocations > 0);
      }
    if (sum.allocations == 0 && sum.bytes == 0) continue;
    out += labelled(describe(doubt).word,
                    fmt::format("{}, {}: {}{}", say_number_of(sum.allocations, "allocation", style),
                                knows_bytes || sum.bytes > 0 ? say_bytes(sum.bytes, style) : "unknown bytes",
                                describe(doubt).sentence, circumstance(doubt, result)),
                    style);
    if (options.is_brief || (doubt != Doubt::reallocated && doubt != Doubt::untraced_path)) continue;
    for (const LeakTable& table : result.tables) {
      for (const LeakRow* row : shown_rows(table, result, options, kEverything)) {
        const GroupHistory& history = *row->group.history;
        if (row->main_doubt != doubt) continue;
        const std::string why = doubt == Doubt::reallocated
                                    ? fmt::format("{} of {} still looked live when their address was reused",
                                                  say_count(history.reallocated, style),
                                                  say_number_of(history.reallocated_of, "allocation", style))
                                    : std::string(history.untraced_path);
        out += labelled("", fmt::format("- {}: {}", name_of_group(*row, result.by, style), why), style);
      }
    }
  }
  return out.empty() ? out : "\n" + heading("Why live memory is uncertain", style) + out;
}

// The sum of all groups that have one verdict.
struct Growing {
  std::size_t groups = 0;
  const LeakRow* fastest = nullptr;
  Trend trend{};  // the trend of the group `fastest`
};
Growing growing(const LeaksResult& result, LeakVerdict verdict) {
  Growing found;
  Growing with_site;  // groups other than page orders
  for (const LeakTable& table : result.tables)
    for (const LeakRow& row : table.rows) {
      const Trend& trend = judged_trend(row);
      if (row.verdict != verdict || trend.low <= result.threshold_bytes_per_s) continue;
      ++found.groups;
      const auto keep_fastest = [&](Growing& growing) {
        if (growing.fastest != nullptr && trend.bytes_per_s <= growing.trend.bytes_per_s) return;
        growing.fastest = &row;
        growing.trend = trend;
      };
      keep_fastest(found);
      if (table.allocator != Allocator::pages || !std::ranges::count(result.by, GroupKey::order))
        keep_fastest(with_site);
    }
  // Without stacks, pages include those of slabs. A call site with as much growth says more than an order does.
  constexpr double kAsMuch = 0.5;
  if (with_site.fastest != nullptr && with_site.trend.bytes_per_s >= kAsMuch * found.trend.bytes_per_s) {
    found.fastest = with_site.fastest;
    found.trend = with_site.trend;
  }
  return found;
}

// Returns a sentence about groups that rose, but no longer do; empty if none of them has risen faster than the
// threshold.
std::string risen_text(const LeaksResult& result, const TextStyle& style) {
  const double seconds = static_cast<double>(result.axis.end_ns - result.axis.start_ns) / 1e9;
  std::size_t groups = 0;
  const LeakRow* largest = nullptr;
  for (const LeakTable& table : result.tables)
    for (const LeakRow& row : table.rows) {
      if (row.verdict != LeakVerdict::past ||
          static_cast<double>(row.certain_bytes()) <= result.threshold_bytes_per_s * seconds)
        continue;
      ++groups;
      if (largest == nullptr || row.certain_bytes() > largest->certain_bytes()) largest = &row;
    }
  if (largest == nullptr) return {};
  const std::string name = name_of_group(*largest, result.by, style);
  const std::string bytes = say_bytes(largest->certain_bytes(), style);
  if (groups == 1) return fmt::format(" {} rose to {}, and then hardly grew.", name, bytes);
  return fmt::format(" {} groups rose, and then hardly grew, the largest {} to {}.", say_count(groups, style), name,
                     bytes);
}

// Returns the reason why growth cannot be excluded; empty if it can.
std::string unclear_text(const LeaksResult& result, const TextStyle& style) {
  switch (result.unclear()) {
    case LeaksUnclear::none: return {};
    case LeaksUnclear::no_clock: return "Growth cannot be judged: the trace's clock does not count nanoseconds.";
    case LeaksUnclear::too_short:
      return "Growth cannot be judged: the trace is too short; a group must be followed for at least a second.";
    case LeaksUnclear::no_events: return "Growth cannot be judged: no events.";
    case LeaksUnclear::mostly_lost: break;
  }
  return fmt::format(
      "Growth cannot be judged: {} were lost, and the trace has only {}. Record with larger buffers: `kmemtrace record "
      "-b 64M`.",
      say_number_of(result.trace.lost_events, "event", style), say_count(result.events, style));
}

// Returns one or two sentences about the growth in the trace.
std::string verdict(const LeaksResult& result, const TextStyle& style) {
  const std::string threshold =
      result.threshold_bytes_per_s > 0 ? say_growth(result.threshold_bytes_per_s).substr(1) : "0 B/s";
  const auto who = [&](const Growing& found, std::string_view by) {
    return fmt::format("{}{} by more than {}, the fastest {} by {}",
                       found.groups == 1 ? "one group grows" : say_count(found.groups, style) + " groups grow", by,
                       threshold, name_of_group(*found.fastest, result.by, style), say_growth(found.trend.bytes_per_s));
  };
  if (const Growing certain = growing(result, LeakVerdict::certain); certain.groups > 0)
    return fmt::format(
        "Growth: {}, at least {}{}. Objects that live longer than the trace ({}) look the same; a longer trace "
        "distinguishes them.",
        who(certain, " for certain"), say_growth(certain.trend.low),
        certain.fastest->doubtful.bytes > 0 ? fmt::format(" ({} with objects that may be freed already)",
                                                          say_growth(certain.fastest->trend.bytes_per_s))
                                            : "",
        say_duration(result.trace.recorded_ns, style));
  if (std::string unclear = unclear_text(result, style); !unclear.empty()) return unclear;
  if (const Growing uncertain = growing(result, LeakVerdict::uncertain); uncertain.groups > 0)
    return fmt::format("No certain growth: {}, but the growing memory may already have been freed.",
                       who(uncertain, ""));
  if (const Growing uneven = growing(result, LeakVerdict::uneven); uneven.groups > 0)
    return fmt::format(
        "No certain growth. Growth is above the threshold, but no more steady than chance allows among {}: {}. Record "
        "a longer trace.",
        say_number_of(result.judged, "group", style), who(uneven, ""));
  if (const Growing explained = growing(result, LeakVerdict::explained); explained.groups > 0)
    return fmt::format(
        "No certain growth: {}, but only with reclaimable memory, page tables, or pages of counted objects.{}",
        who(explained, ""), risen_text(result, style));
  if (result.tables.empty()) return "No growth: nothing that was allocated in the trace is live at its end.";
  return fmt::format("No certain growth: no group {}grows by more than {} for certain.{}",
                     result.groups_not_followed > 0 ? "that was judged " : "", threshold, risen_text(result, style));
}

// Names the processes that hold the growing memory. Empty if nothing grows, or if the groups are processes.
std::string who_holds(const LeaksResult& result, const TextStyle& style) {
  constexpr std::size_t kMost = 3;
  if (result.worst < LeakVerdict::uneven || result.holders.empty() || names_processes(result.by)) return {};
  if (result.unclear() != LeaksUnclear::none) return {};
  std::string text;
  for (std::size_t i = 0; i < std::min(result.sources.size(), kMost); ++i) {
    const LeakSource& source = result.sources[i];
    const double share =
        100 * static_cast<double>(source.bytes) / static_cast<double>(std::max(result.worst_bytes, std::uint64_t{1}));
    if (i > 0 && share < 1) break;
    const std::string name = printable(plain_text(source.process));
    text += fmt::format(
        "{}{} with {:.0f} %", i == 0 ? "" : ", ",
        source.processes == 1 ? name : fmt::format("{} processes named {}", say_count(source.processes, style), name),
        share);
  }
  return hanging(
      "Allocated by: ",
      fmt::format("{} of the {} that are live in {}.", text, say_bytes(result.worst_bytes, style),
                  result.worst_groups == 1 ? "this group" : fmt::format("these {} groups", result.worst_groups)),
      style);
}

// Returns the option that selects the memory of many processes of one name. Empty if most of the growing memory belongs
// to one process, or if a shell would not read the name unchanged.
std::string filter_by_name(const LeaksResult& result) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:/-";
  if (names_processes(result.by) || result.sources.empty() || result.sources.front().processes == 1) return {};
  const std::string& name = result.sources.front().process.comm;
  return name.empty() || name.find_first_not_of(kPlain) != std::string::npos ? "" : " --comm " + name;
}

// Returns the command that shows more about the growing memory. Empty if nothing grows.
std::string next_step(const LeaksResult& result, const TextStyle& style) {
  if (!any_is_growing(result) || result.unclear() != LeaksUnclear::none) return {};
  return hanging("Next: ",
                 fmt::format("`kmemtrace report {}{} --html page.html` shows the memory over time.",
                             printable(result.trace.path), filter_by_name(result)),
                 style);
}

// Says how many groups and stacks a brief report does not show.
std::string cut_line(const LeaksResult& result, const LeaksOptions& options, const Extent& extent,
                     const TextStyle& style) {
  if (!options.is_brief) return {};
  std::size_t groups = 0;   // not shown
  std::size_t growing = 0;  // growing groups that are shown; only these have stacks
  std::size_t hidden = 0;   // growing groups that are not shown
  for (const LeakTable& table : result.tables) {
    const Rows rows = shown_rows(table, result, options, extent);
    groups += table.rows.size() - rows.size();
    const auto shown =
        static_cast<std::size_t>(std::ranges::count_if(rows, [](const LeakRow* row) { return is_growing(*row); }));
    growing += shown;
    hidden += count_growing(table) - shown;
  }
  const bool has_stacks = std::ranges::find(result.by, GroupKey::stack) != result.by.end();
  const std::size_t stacks =
      has_stacks && options.stacks == StacksShown::growing && growing > extent.stacks ? growing - extent.stacks : 0;
  if (groups == 0 && stacks == 0) return {};
  std::string grow;
  if (hidden > 0)
    grow = fmt::format(" ({} {})", say_count(hidden, style), hidden == 1 ? "grows" : "grow");
  else if (groups > 0 && result.unclear() == LeaksUnclear::none)
    grow = " (none grows)";
  const std::string more_stacks =
      stacks == 0 ? "" : fmt::format(", and {}", say_number_of(stacks, "more stack", style));
  return "\n" + hanging("",
                        fmt::format("Not shown: {}{}{}. To see all groups and their stacks: --limit 0 --stacks all.",
                                    say_number_of(groups, "group", style), grow, more_stacks),
                        style);
}

}  // namespace

std::string text_leaks(const LeaksResult& result, const LeaksOptions& options, const TextStyle& style) {
  const std::string events = say_count(result.trace.events, style) + (options.filtered ? " selected" : "");
  std::string out = trace_lines(result.trace, events, style);
  const std::string explained = explained_line(result.explained, {}, style);
  const std::string anomalies =
      (explained.empty() ? explained : "\n" + explained) +
      anomaly_section(result.anomalies, result.findings, may_lack_events(result.trace), style, result.explained);
  if (result.trace.events == 0)
    return out + anomalies + "\n" +
           hanging("", options.filtered ? kNothingSelected : "Nothing to report: this trace has no events.", style);
  out += "\n" + hanging("", verdict(result, style), style) + who_holds(result, style) + next_step(result, style);
  if (result.groups_not_followed > 0)
    out += hanging("",
                   fmt::format("Not judged: {} with {} live, which may grow. To judge all groups, form fewer groups "
                               "with --by or select fewer events.",
                               say_number_of(result.groups_not_followed, "group", style),
                               say_bytes(result.bytes_not_followed, style)),
                   style);
  const std::string after = doubt_lines(result, options, style) + anomalies;
  const auto with = [&](const Extent& extent) {
    std::string text = out;
    for (const LeakTable& table : result.tables) text += leak_table(table, result, options, extent, style);
    return text + after + cut_line(result, options, extent, style);
  };
  if (!options.is_brief) return with(kEverything);
  std::string text;
  for (const Extent& extent : kBriefExtents)
    if (text = with(extent); lines_in(text) <= kBriefLines) break;
  return text;
}

}  // namespace kmt
