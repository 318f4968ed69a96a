// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/report/growth_gate.hpp"

#include <algorithm>
#include <functional>

namespace kmt {

namespace {

// True if the doubt exists because the recording lacks events. The other doubts are about memory that the kernel frees
// without an event, or whose growth is expected.
bool is_about_missing_events(Doubt doubt) {
  return doubt == Doubt::frees_not_recorded || doubt == Doubt::tasks_selected || doubt == Doubt::lost_stretch ||
         doubt == Doubt::incomplete_trace;
}

GateCheck check_of(const LeakTable& table, std::uint64_t limit) {
  constexpr std::size_t kMostRows = 5;
  GateCheck check;
  check.allocator = table.allocator;
  for (const LeakRow& row : table.rows) {
    check.bytes += row.certain_bytes();
    if (row.certain_bytes() > 0) check.largest.push_back(&row);
    for (std::size_t i = 0; i < kDoubts; ++i) {
      const auto doubt = static_cast<Doubt>(i);
      const std::uint64_t bytes = row.group.history->doubtful[i].bytes;
      if (is_about_missing_events(doubt))
        check.missing_bytes += bytes;
      else if (!explains_growth(doubt))
        check.untraced_bytes += bytes;
    }
  }
  std::ranges::stable_sort(check.largest, std::greater(), [](const LeakRow* row) { return row->certain_bytes(); });
  check.largest.resize(std::min(check.largest.size(), kMostRows));
  if (check.bytes > limit)
    check.verdict = GateVerdict::failed;
  else if (check.bytes + check.missing_bytes > limit)
    check.verdict = GateVerdict::unclear;
  return check;
}

GateGap gap_of(const LeaksResult& result) {
  if (!result.trace.complete) return GateGap::interrupted;
  if (result.trace.events == 0) return GateGap::no_events;
  if (result.trace.lost_events > 0) return GateGap::lost_events;
  return result.incomplete.empty() && !result.cut_at_ns ? GateGap::none : GateGap::missing_part;
}

}  // namespace

std::string_view id_of(GateGap gap) {
  switch (gap) {
    case GateGap::none: return "none";
    case GateGap::no_events: return "no-events";
    case GateGap::lost_events: return "lost-events";
    case GateGap::missing_part: return "missing-part";
    case GateGap::interrupted: break;
  }
  return "interrupted";
}

std::string_view id_of(GateVerdict verdict) {
  switch (verdict) {
    case GateVerdict::passed: return "passed";
    case GateVerdict::unclear: return "unclear";
    case GateVerdict::failed: break;
  }
  return "failed";
}

GateVerdict GrowthGate::verdict() const {
  GateVerdict worst = gap == GateGap::none ? GateVerdict::passed : GateVerdict::unclear;
  std::uint64_t most = 0;
  for (const GateCheck& check : checks) {
    worst = std::max(worst, check.verdict);
    most = std::max(most, check.bytes);
  }
  if (bytes_not_followed > 0 && most + bytes_not_followed > limit) worst = std::max(worst, GateVerdict::unclear);
  return worst;
}

GrowthGate gate_of(const LeaksResult& result, std::uint64_t limit) {
  GrowthGate gate;
  gate.limit = limit;
  gate.gap = gap_of(result);
  gate.bytes_not_followed = result.bytes_not_followed;
  for (const LeakTable& table : result.tables) gate.checks.push_back(check_of(table, limit));
  return gate;
}

}  // namespace kmt
