// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/analyse.hpp"

#include <algorithm>
#include <thread>

#include "analysis/pipeline.hpp"
#include "cli/reading.hpp"

namespace kmt {

namespace {

// Reads ahead of the real pass, until it is clear that there is nothing to learn. False at Ctrl+C.
bool learn_cache_names(const std::string& file, const AnalyseOptions& options, CacheNames& names) {
  const std::unique_ptr<Source> source = open_for_reading(file, OpenOptions{options.buffer});
  WatchedSource watched(*source, options.progress);
  EventBatch batch;
  while (!names.named_by_allocations() && watched.read(batch)) names.learn(batch, source->info());
  return watched.complete();
}

}  // namespace

ReportResult analyse(const AnalyseOptions& options, ReportRequest request) {
  // Reading, matching and booking are about as much work each.
  constexpr unsigned kUsefulThreads = 4;
  const unsigned threads = options.threads != 0
                               ? options.threads
                               : std::min(kUsefulThreads, std::max(1u, std::thread::hardware_concurrency()));
  const std::string file = options.file.empty() ? default_trace() : options.file;
  const std::unique_ptr<Source> source = open_for_reading(file, OpenOptions{options.buffer});
  const WrapperList wrappers = wrapper_list(options.wrappers);
  const Symbols symbols(source->info(), options.symbols, wrappers);
  CallerFinder callers(symbols, wrappers);
  request.find_caller = [&callers](std::span<const std::uint64_t> stack) { return callers.caller(stack); };
  ReportAnalysis analysis(source->info(), symbols, request);
  bool complete = !needs_cache_names(request) || learn_cache_names(file, options, analysis.cache_names());
  if (complete) {
    WatchedSource watched(*source, options.progress);
    run_analysis(watched, analysis, threads);
    complete = watched.complete();
  }
  ReportResult result = analysis.finish();
  result.trace.complete = complete;
  result.findings.merge(symbols.findings());
  return result;
}

}  // namespace kmt
