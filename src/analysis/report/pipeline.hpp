// SPDX-License-Identifier: GPL-2.0-or-later
// Runs analyses on the events of a source. With more than one thread, several batches are processed at the same time,
// each in another stage. Every stage handles the batches in order, so the results do not depend on the number of
// threads.
#pragma once

#include <span>

#include "analysis/report/report.hpp"
#include "trace/source.hpp"

namespace kmt {

// Runs until the source ends. Rethrows exceptions of the stages and of the source.
void run_analyses(Source& source, std::span<ReportAnalysis* const> analyses, unsigned threads);

}  // namespace kmt
