// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/leaks/leaks.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.hpp"
#include "views/text/findings.hpp"
#include "views/text/leaks/gate.hpp"
#include "views/text/leaks/rows.hpp"
#include "views/text/leaks/table.hpp"
#include "views/text/leaks/verdict.hpp"
#include "views/text/lines.hpp"

namespace kmt {

namespace {

// Extents from longest to shortest. A brief report uses the first one that is short enough.
constexpr std::array<LeaksExtent, 9> kBriefExtents = {{{6, 3, 2, 5},
                                                       {5, 3, 2, 5},
                                                       {4, 3, 2, 5},
                                                       {4, 2, 2, 4},
                                                       {3, 2, 1, 5},
                                                       {2, 1, 1, 4},
                                                       {1, 1, 1, 3},
                                                       {1, 1, 0, 0},
                                                       {1, 0, 0, 0}}};

// Returns details of a reason why memory in this trace that looks live may be freed.
std::string circumstance(Doubt doubt, const LeaksResult& result) {
  if (doubt == Doubt::lost_stretch && result.lost_until_ns > 0 && result.trace.clock_in_ns)
    return fmt::format("; the last loss ends at {}", say_seconds(result.lost_until_ns));
  if (doubt != Doubt::incomplete_trace) return "";
  std::string text;
  for (const Imperfection kind : result.incomplete) text += fmt::format("; {}", describe(kind).sentence);
  return text;
}

struct DoubtSum {
  LiveCount live;
  bool knows_bytes = false;
};

DoubtSum sum_of(Doubt doubt, const LeaksResult& result) {
  DoubtSum sum;
  for (const LeakTable& table : result.tables)
    for (const LeakRow& row : table.rows) {
      const LiveCount& doubtful = row.group.history->doubtful[static_cast<std::size_t>(doubt)];
      sum.live += doubtful;
      sum.knows_bytes = sum.knows_bytes || (row.group.knows_bytes && doubtful.allocations > 0) || doubtful.bytes > 0;
    }
  return sum;
}

// Returns a line for each shown group whose frees are not traced.
std::string groups_in_doubt(Doubt doubt, const LeaksResult& result, const LeaksOptions& options,
                            const TextStyle& style) {
  std::string out;
  for (const LeakTable& table : result.tables)
    for (const LeakRow* row : shown_leaks(table, result, options, kWholeLeaks)) {
      const GroupHistory& history = *row->group.history;
      if (row->main_doubt != doubt) continue;
      const std::string why = doubt == Doubt::reallocated
                                  ? fmt::format("{} of {} still looked live when their address was reused",
                                                say_count(history.reallocated, style),
                                                say_number_of(history.reallocated_of, "allocation", style))
                                  : std::string(history.untraced_path);
      out += labelled("", fmt::format("- {}: {}", name_of_leak(*row, result.by, style), why), style);
    }
  return out;
}

// Returns the reasons why live memory may already be freed. A brief report only names the reasons, except those that
// affect all groups.
std::string doubt_lines(const LeaksResult& result, const LeaksOptions& options, const TextStyle& style) {
  std::string out;
  std::string names;
  for (std::size_t i = 0; i < kDoubts; ++i) {
    const auto doubt = static_cast<Doubt>(i);
    const auto& [live, knows_bytes] = sum_of(doubt, result);
    if (live.allocations == 0 && live.bytes == 0) continue;
    const std::string bytes = knows_bytes ? say_bytes(live.bytes, style) : "unknown bytes";
    if (options.is_brief && doubt >= Doubt::reallocated) {
      names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", describe(doubt).word, bytes);
      continue;
    }
    out += labelled(describe(doubt).word,
                    fmt::format("{}, {}: {}{}", say_number_of(live.allocations, "allocation", style), bytes,
                                describe(doubt).sentence, circumstance(doubt, result)),
                    style);
    if (doubt == Doubt::reallocated || doubt == Doubt::untraced_path)
      out += groups_in_doubt(doubt, result, options, style);
  }
  if (!out.empty()) out = "\n" + heading("Why live memory is uncertain", style) + out;
  return names.empty() ? out : out + "\n" + hanging("Uncertain or expected to grow: ", names + ".", style);
}

// Returns a line that states how many groups and stacks a brief report does not show.
std::string cut_line(const LeaksResult& result, const LeaksOptions& options, const LeaksExtent& extent,
                     const TextStyle& style) {
  if (!options.is_brief) return {};
  std::size_t groups = 0;   // number of groups that are not shown
  std::size_t growing = 0;  // number of growing groups that are shown; only these have stacks
  std::size_t hidden = 0;   // number of growing groups that are not shown
  for (const LeakTable& table : result.tables) {
    const LeakRows rows = shown_leaks(table, result, options, extent);
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
           (options.filtered
                ? hanging("", kNothingSelected, style)
                : hanging("", "Nothing to report: this trace has no events.", style) +
                      hanging("Next: ", "`kmemtrace record --stacks --duration 5m` records events.", style));
  if (options.gate != nullptr) {
    out += "\n" + gate_lines(*options.gate, result, style);
    if (options.gate->verdict() == GateVerdict::failed)
      out += "\n" + hanging("",
                            "The limit is about all memory that stayed allocated. The next lines are about growth over "
                            "time.",
                            style);
  }
  out += "\n" + leaks_verdict(result, style);
  if (result.groups_not_followed > 0)
    out += hanging("",
                   fmt::format("Not judged: {} with {} live, which may grow. To judge all groups, form fewer groups "
                               "with --by or select fewer events.",
                               say_number_of(result.groups_not_followed, "group", style),
                               say_bytes(result.bytes_not_followed, style)),
                   style);
  const std::string after = doubt_lines(result, options, style) + anomalies;
  const auto with = [&](const LeaksExtent& extent) {
    std::string text = out;
    for (const LeakTable& table : result.tables) text += leak_table(table, result, options, extent, style);
    return text + after + cut_line(result, options, extent, style) + concepts_line(style);
  };
  if (!options.is_brief) return with(kWholeLeaks);
  std::string text;
  for (const LeaksExtent& extent : kBriefExtents)
    if (text = with(extent); lines_in(text) <= kBriefLines) break;
  return text;
}

}  // namespace kmt
