// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/analyse.hpp"

#include <algorithm>
#include <thread>

#include "analysis/pipeline.hpp"
#include "cli/reading.hpp"

namespace kmt {

namespace {

// Reads the trace once before the real pass, for what has to be known from its start. False at Ctrl+C.
bool read_ahead(Source& source, const AnalyseOptions& options, bool for_tasks, CacheNames* caches) {
  WatchedSource watched(source, options.trace.progress);
  EventBatch batch;
  while ((for_tasks || (caches != nullptr && !caches->named_by_allocations())) && watched.read(batch))
    if (caches != nullptr) caches->learn(batch, source.info());
  return watched.complete();
}

}  // namespace

void add_analyse_options(CLI::App& command, AnalyseOptions& options) {
  add_symbol_options(command, options.symbols);
  add_wrapper_options(command, options.wrappers);
  add_trace_options(command, options.trace);
  add_threads_option(command, options.threads);
}

bool has_stacks(const AnalyseOptions& options) {
  constexpr std::size_t kEnough = 100'000;  // events
  const std::unique_ptr<Source> source = open_for_reading(options.trace);
  EventBatch batch;
  for (std::size_t seen = 0; seen < kEnough && source->read(batch); seen += batch.size())
    if (source->info().stacks.size() > 1) return true;
  return false;
}

ReportResult analyse(const AnalyseOptions& options, ReportRequest request) {
  // Reading, matching and booking are about as much work each.
  constexpr unsigned kUsefulThreads = 4;
  const unsigned threads = options.threads != 0
                               ? options.threads
                               : std::min(kUsefulThreads, std::max(1u, std::thread::hardware_concurrency()));
  const std::unique_ptr<Source> source = open_for_reading(options.trace);
  const WrapperList wrappers = wrapper_list(options.wrappers);
  const Symbols symbols(source->info(), options.symbols, wrappers);
  CallerFinder callers(symbols, wrappers);
  request.find_caller = [&callers](std::span<const std::uint64_t> stack) { return callers.caller(stack); };
  const bool for_tasks = needs_task_names(request, source->info());
  const bool for_caches = needs_cache_names(request);
  std::unique_ptr<Source> ahead = for_tasks || for_caches ? open_for_reading(options.trace) : nullptr;
  if (for_tasks) request.tasks = &ahead->info();

  ReportAnalysis analysis(source->info(), symbols, request);
  bool complete = !ahead || read_ahead(*ahead, options, for_tasks, for_caches ? &analysis.cache_names() : nullptr);
  analysis.cache_names().end_learning();
  if (!for_tasks) ahead.reset();
  if (complete) {
    WatchedSource watched(*source, options.trace.progress);
    run_analysis(watched, analysis, threads);
    complete = watched.complete();
  }
  ReportResult result = analysis.finish(complete);
  result.findings.merge(symbols.findings());
  return result;
}

}  // namespace kmt
