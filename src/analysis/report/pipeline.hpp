// SPDX-License-Identifier: GPL-2.0-or-later
// Runs analyses over a source. With more than one thread the stages of batches that follow each other run at the same
// time; every stage sees the batches in their order, so the results are the same, byte for byte.
#pragma once

#include <span>

#include "analysis/report/report.hpp"
#include "trace/source.hpp"

namespace kmt {

// Runs until the source ends. Rethrows the exceptions of stages and of the source.
void run_analyses(Source& source, std::span<ReportAnalysis* const> analyses, unsigned threads);

}  // namespace kmt
