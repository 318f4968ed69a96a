// SPDX-License-Identifier: GPL-2.0-or-later
// Findings and anomalies in words.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "trace/imperfections.hpp"
#include "views/text/style.hpp"

namespace kmt {

// A section of lines "  12,000  an object from before the trace was freed", worst first; both lists
// together. Kinds that neither has are left out, and lost events, which lost_line() tells of. Empty when there is
// nothing to tell.
// `lossy`: events are missing, and pairs may only look wrong.
std::string anomaly_section(const std::vector<std::pair<std::string, std::uint64_t>>& anomalies,
                            const Findings& findings, bool lossy, const TextStyle& style);

// Lines for findings alone, each with its severity and up to `examples` places.
std::string finding_lines(const Findings& findings, std::size_t examples, const TextStyle& style);

}  // namespace kmt
