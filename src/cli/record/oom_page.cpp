// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/record/oom_page.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "base/units.hpp"
#include "cli/input/analyse.hpp"
#include "cli/record/oom.hpp"
#include "views/html/text_page.hpp"
#include "views/text/report.hpp"
#include "views/text/snapshot.hpp"

namespace kmt {

namespace {

constexpr std::uint64_t kLastMinute = 60'000'000'000;  // ns
constexpr std::size_t kRows = 15;

// A request for the allocations since `from_ns`, by the given key.
ReportRequest allocations_since(std::uint64_t from_ns, GroupKey key) {
  ReportRequest request;
  request.by = {key};
  request.filter.from = TimeEdge{from_ns, false};
  return request;
}

}  // namespace

bool has_oom_page() { return true; }

std::string page_of_kill(const std::string& trace, const SnapshotResult* memory) {
  const TextStyle style;
  std::string text = memory != nullptr && memory->memory.oom
                         ? fmt::format("Victim: {}\n\n", victim_of_kill(*memory->memory.oom))
                         : "Victim: unknown. The kernel's log has no report of this kill, or cannot be read.\n\n";
  AnalyseOptions options;
  options.trace.files = {trace};
  const ReportResult whole = analyse(options, ReportRequest{});
  const std::uint64_t end = whole.trace.whole_first_ns + whole.trace.whole_ns;
  const std::uint64_t from = std::max(whole.trace.whole_first_ns, end - std::min(end, kLastMinute));
  const std::vector<ReportResult> last = analyse(
      options, std::vector{allocations_since(from, GroupKey::process), allocations_since(from, GroupKey::call_site)});
  ReportOptions view;
  view.limit = kRows;
  view.filtered = true;
  view.table_first = true;
  text += fmt::format("ALLOCATIONS BY PROCESS, IN THE LAST {} OF THE TRACE\n\n{}\n", humane_duration(end - from),
                      text_report(last[0], view, style));
  text += fmt::format("ALLOCATIONS BY CALL SITE, IN THE SAME TIME\n\n{}\n", text_report(last[1], view, style));
  if (memory != nullptr)
    text += fmt::format("MEMORY AT THE KILL, FROM THE KERNEL'S REPORT\n\n{}",
                        text_snapshot(*memory, SnapshotOptions{}, style));
  return text_page("Out of memory", {}, text);
}

}  // namespace kmt
