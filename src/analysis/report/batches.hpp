// SPDX-License-Identifier: GPL-2.0-or-later
// Batches of events on their way through the stages of analyses.
#pragma once

#include <span>
#include <vector>

#include "analysis/report/report.hpp"
#include "trace/source.hpp"

namespace kmt {

// One batch of events, with a copy for each analysis.
using Batches = std::vector<MatchedBatch>;

// Returns false if the source has ended.
bool read_batches(Source& source, Batches& batches);

void run_stage(unsigned stage, std::span<ReportAnalysis* const> analyses, Batches& batches);

// Runs all stages on one batch after the other.
void run_in_one_thread(Source& source, std::span<ReportAnalysis* const> analyses);

}  // namespace kmt
