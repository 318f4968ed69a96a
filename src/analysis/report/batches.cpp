// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/report/batches.hpp"

namespace kmt {

bool read_batches(Source& source, Batches& batches) {
  if (!source.read(batches.front().events)) return false;
  for (std::size_t i = 1; i < batches.size(); ++i) batches[i].events = batches.front().events;
  return true;
}

void run_stage(unsigned stage, std::span<ReportAnalysis* const> analyses, Batches& batches) {
  for (std::size_t i = 0; i < analyses.size(); ++i) analyses[i]->run_stage(stage, batches[i]);
}

void run_in_one_thread(Source& source, std::span<ReportAnalysis* const> analyses) {
  Batches batches(analyses.size());
  while (read_batches(source, batches))
    for (unsigned stage = 0; stage < ReportAnalysis::kStages; ++stage) run_stage(stage, analyses, batches);
}

}  // namespace kmt
