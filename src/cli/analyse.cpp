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
  WatchedSource watched(source, options.progress);
  EventBatch batch;
  while ((for_tasks || (caches != nullptr && !caches->named_by_allocations())) && watched.read(batch))
    if (caches != nullptr) caches->learn(batch, source.info());
  return watched.complete();
}

class ObservedSource : public Source {
 public:
  ObservedSource(Source& source, const AnalyseOptions& options) : source_(source), options_(options) {}

  const TraceInfo& info() const override { return source_.info(); }
  double progress() const override { return source_.progress(); }
  bool read(EventBatch& batch) override {
    const bool more = source_.read(batch);
    if (more && options_.observe) options_.observe(batch, info());
    return more;
  }

 private:
  Source& source_;
  const AnalyseOptions& options_;
};

}  // namespace

bool has_stacks(const AnalyseOptions& options) {
  constexpr std::size_t kEnough = 100'000;  // events
  const std::string file = options.file.empty() ? default_trace() : options.file;
  const std::unique_ptr<Source> source = open_for_reading(file, OpenOptions{options.buffer});
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
  const std::string file = options.file.empty() ? default_trace() : options.file;
  const auto open = [&] { return open_for_reading(file, OpenOptions{options.buffer}); };
  const std::unique_ptr<Source> source = open();
  const WrapperList wrappers = wrapper_list(options.wrappers);
  const Symbols symbols(source->info(), options.symbols, wrappers);
  CallerFinder callers(symbols, wrappers);
  request.find_caller = [&callers](std::span<const std::uint64_t> stack) { return callers.caller(stack); };
  const bool for_tasks = needs_task_names(request, source->info());
  const bool for_caches = needs_cache_names(request);
  std::unique_ptr<Source> ahead = for_tasks || for_caches ? open() : nullptr;
  if (for_tasks) request.tasks = &ahead->info();

  ReportAnalysis analysis(source->info(), symbols, request);
  bool complete = !ahead || read_ahead(*ahead, options, for_tasks, for_caches ? &analysis.cache_names() : nullptr);
  analysis.cache_names().end_learning();
  if (!for_tasks) ahead.reset();
  if (complete) {
    WatchedSource watched(*source, options.progress);
    ObservedSource observed(watched, options);
    run_analysis(observed, analysis, threads);
    complete = watched.complete();
  }
  ReportResult result = analysis.finish();
  result.trace.complete = complete;
  result.findings.merge(symbols.findings());
  return result;
}

}  // namespace kmt
