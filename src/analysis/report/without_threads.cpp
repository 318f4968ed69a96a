// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/report/batches.hpp"
#include "analysis/report/pipeline.hpp"

namespace kmt {

// Results do not depend on the number of threads, so a build without oneTBB needs no error here.
void run_analyses(Source& source, std::span<ReportAnalysis* const> analyses, unsigned) {
  run_in_one_thread(source, analyses);
}

}  // namespace kmt
