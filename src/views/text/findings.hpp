// SPDX-License-Identifier: GPL-2.0-or-later
// Findings and anomalies as text.
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

// Returns a section of lines " 12,000 an object that was allocated before the trace began is freed" from both lists,
// worst first. Leaves out explained anomalies, kinds that did not occur, and lost events (see lost_line()). Returns an
// empty string if no line remains. `lossy`: lost events may be the cause of unmatched pairs.
std::string anomaly_section(const std::vector<std::pair<std::string, std::uint64_t>>& anomalies,
                            const Findings& findings, bool lossy, const TextStyle& style,
                            const ExplainedAnomalies& explained = {});

// Returns a line on the anomalies with a known cause, and on live allocations that may be freed; empty if there are
// none.
std::string explained_line(const ExplainedAnomalies& explained, const LiveCount& maybe_freed, const TextStyle& style);

// Returns one line per kind of finding, with its severity and up to `examples` places.
std::string finding_lines(const Findings& findings, std::size_t examples, const TextStyle& style,
                          const ExplainedAnomalies& explained = {});

}  // namespace kmt
