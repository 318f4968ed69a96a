// SPDX-License-Identifier: GPL-2.0-or-later
// Runs analyses on the events of a source. With more than one thread, the stages of successive batches run in parallel.
// Every stage handles the batches in order, so the results are identical byte for byte.
#pragma once

#include <span>

#include "analysis/report/report.hpp"
#include "trace/source.hpp"

namespace kmt {

// Runs until the source ends. Exceptions of stages and of the source are rethrown.
void run_analyses(Source& source, std::span<ReportAnalysis* const> analyses, unsigned threads);

}  // namespace kmt
