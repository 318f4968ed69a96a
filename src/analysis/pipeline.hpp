// SPDX-License-Identifier: GPL-2.0-or-later
// Runs an analysis over a source. With more than one thread the stages of batches that follow each other run at the
// same time; every stage sees the batches in their order, so the result is the same, byte for byte.
#pragma once

#include "analysis/report.hpp"
#include "trace/source.hpp"

namespace kmt {

// Until the source ends. What a stage or the source throws is thrown here.
void run_analysis(Source& source, ReportAnalysis& analysis, unsigned threads);

}  // namespace kmt
