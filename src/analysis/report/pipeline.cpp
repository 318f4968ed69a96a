// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/report/pipeline.hpp"

#include <stdexcept>
#include <string_view>
#include <vector>

#include <tbb/global_control.h>
#include <tbb/parallel_pipeline.h>

#include "analysis/report/batches.hpp"
#include "base/thread.hpp"

namespace kmt {

namespace {

void run_side_by_side(Source& source, std::span<ReportAnalysis* const> analyses, unsigned threads) {
  AnalysisStages all(analyses);
  // Number of batches in progress: enough to keep all stages busy, few enough to fit into the cache.
  const std::size_t most_batches = all.size() + 1;
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
  std::vector<ReportBatch> places(most_batches, all.make_batch());
  std::size_t next = 0;
  tbb::filter<void, ReportBatch*> stages = tbb::make_filter<void, ReportBatch*>(
      tbb::filter_mode::serial_in_order, [&](tbb::flow_control& control) -> ReportBatch* {
        // The last stage also handles batches in order. It has therefore finished the batch that used this place
        // before.
        ReportBatch& batch = places[next++ % most_batches];
        if (!all.read(source, batch)) {
          control.stop();
          return nullptr;
        }
        all.run(0, batch);
        return &batch;
      });
  for (std::size_t stage = 1; stage + 1 < all.size(); ++stage)
    stages = stages & tbb::make_filter<ReportBatch*, ReportBatch*>(tbb::filter_mode::serial_in_order,
                                                                   [&all, stage](ReportBatch* batch) {
                                                                     all.run(stage, *batch);
                                                                     return batch;
                                                                   });
  tbb::parallel_pipeline(most_batches, stages & tbb::make_filter<ReportBatch*, void>(
                                                    tbb::filter_mode::serial_in_order,
                                                    [&all](ReportBatch* batch) { all.run(all.size() - 1, *batch); }));
}

}  // namespace

void run_analyses(Source& source, std::span<ReportAnalysis* const> analyses, unsigned threads) {
  if (threads <= 1) return run_in_one_thread(source, analyses);
  try {
    run_side_by_side(source, analyses, threads);
  } catch (const std::runtime_error& error) {
    // oneTBB only throws std::runtime_error if it cannot start a thread: see handle_perror() in src/tbb/misc.cpp of
    // oneTBB 2021.8.
    std::string_view why = error.what();
    constexpr std::string_view kNoThread = "pthread_create has failed: ";
    if (!why.starts_with(kNoThread)) throw;
    why.remove_prefix(kNoThread.size());
    throw thread_error("a thread of the analysis", why);
  }
}

}  // namespace kmt
