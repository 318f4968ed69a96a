// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/pipeline.hpp"

#include <vector>

#include <tbb/global_control.h>
#include <tbb/parallel_pipeline.h>

namespace kmt {

namespace {

// Batches on their way at the same time: enough that each stage has one at hand, few enough to stay in the cache.
constexpr std::size_t kBatches = ReportAnalysis::kStages + 1;

void run_alone(Source& source, ReportAnalysis& analysis) {
  MatchedBatch batch;
  while (source.read(batch.events))
    for (unsigned stage = 0; stage < ReportAnalysis::kStages; ++stage) analysis.run_stage(stage, batch);
}

}  // namespace

void run_analysis(Source& source, ReportAnalysis& analysis, unsigned threads) {
  if (threads <= 1) return run_alone(source, analysis);
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
  std::vector<MatchedBatch> batches(kBatches);
  std::size_t next = 0;
  tbb::filter<void, MatchedBatch*> stages = tbb::make_filter<void, MatchedBatch*>(
      tbb::filter_mode::serial_in_order, [&](tbb::flow_control& control) -> MatchedBatch* {
        // The last stage takes batches in order too, so that the one which had this place is through.
        MatchedBatch& batch = batches[next++ % kBatches];
        if (!source.read(batch.events)) {
          control.stop();
          return nullptr;
        }
        analysis.run_stage(0, batch);
        return &batch;
      });
  for (unsigned stage = 1; stage + 1 < ReportAnalysis::kStages; ++stage)
    stages = stages & tbb::make_filter<MatchedBatch*, MatchedBatch*>(tbb::filter_mode::serial_in_order,
                                                                     [&analysis, stage](MatchedBatch* batch) {
                                                                       analysis.run_stage(stage, *batch);
                                                                       return batch;
                                                                     });
  tbb::parallel_pipeline(kBatches, stages & tbb::make_filter<MatchedBatch*, void>(
                                                tbb::filter_mode::serial_in_order, [&analysis](MatchedBatch* batch) {
                                                  analysis.run_stage(ReportAnalysis::kStages - 1, *batch);
                                                }));
}

}  // namespace kmt
