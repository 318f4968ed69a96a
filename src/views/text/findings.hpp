// SPDX-License-Identifier: GPL-2.0-or-later
// Writes findings and anomalies as text.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "results/report/explained.hpp"
#include "results/report/live_count.hpp"
#include "trace/imperfections.hpp"
#include "views/text/style.hpp"

namespace kmt {

// Returns a section with a line for each kind in `anomalies` and `findings`, worst first: " 12,000 an object that was
// allocated before the trace began is freed". Leaves out explained anomalies, kinds that did not occur, and lost events
// (see lost_line()). Returns an empty string if no line remains. `lossy` is true if lost events may be the reason why
// allocations and frees do not match.
std::string anomaly_section(const std::vector<std::pair<std::string, std::uint64_t>>& anomalies,
                            const Findings& findings, bool lossy, const TextStyle& style,
                            const ExplainedAnomalies& explained = {});

// Returns a line about anomalies that have a known cause, and about allocations that look live but may be freed.
// Returns an empty string if there are none.
std::string explained_line(const ExplainedAnomalies& explained, const LiveCount& maybe_freed, const TextStyle& style);

// Returns one line per kind of finding, with the severity and up to `examples` places in the trace.
std::string finding_lines(const Findings& findings, std::size_t examples, const TextStyle& style,
                          const ExplainedAnomalies& explained = {});

}  // namespace kmt
