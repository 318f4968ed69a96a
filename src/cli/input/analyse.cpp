// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/input/analyse.hpp"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "analysis/report/pipeline.hpp"
#include "analysis/stalls/stalls.hpp"
#include "cli/input/call_result.hpp"
#include "cli/input/calls_alongside.hpp"
#include "cli/input/damage_note.hpp"
#include "cli/input/reading.hpp"
#include "cli/input/stalls_alongside.hpp"
#include "cli/support/say.hpp"

namespace kmt {

namespace {

class NoNames : public SymbolNames {
 public:
  std::string name(std::uint64_t address) const override { return fmt::format("{:#x}", address); }
};

// Returns options for a preliminary pass. A preliminary pass must not request raw call records, because nothing in this
// pass releases their memory.
TraceOptions without_call_records(TraceOptions options) {
  options.call_records = false;
  return options;
}

// True if the condition holds for a batch that starts within the first 100,000 events of a trace.
template <typename Condition>
bool begins_with(const TraceOptions& options, Condition&& condition) {
  constexpr std::size_t kEnough = 100'000;  // events
  const std::unique_ptr<Source> source = open_for_reading(without_call_records(options));
  EventBatch batch;
  for (std::size_t seen = 0; seen < kEnough && source->read(batch); seen += batch.size())
    if (condition(batch, source->info())) return true;
  return false;
}

bool has_call(const EventBatch& batch) { return std::ranges::any_of(batch, is_call, &Event::kind); }

}  // namespace

void add_analyse_options(Command& command, AnalyseOptions& options, const std::string& threads_help) {
  add_symbol_options(command, options.symbols);
  add_wrapper_options(command, options.wrappers);
  add_trace_options(command, options.trace);
  add_threads_option(command, options.threads, threads_help);
  command.flag("--call-paths", &options.call_paths,
               "Use calls recorded by ftrace's function_graph as the stacks of the events inside them\nEvents that "
               "have a recorded stack keep it.");
}

bool begins_with_stacks(const AnalyseOptions& options) {
  return begins_with(options.trace, [&](const EventBatch& batch, const TraceInfo& info) {
    return info.tables.stacks.has_stacks() || (options.call_paths && has_call(batch));
  });
}

bool begins_with_calls(const AnalyseOptions& options) {
  return begins_with(options.trace, [](const EventBatch& batch, const TraceInfo&) { return has_call(batch); });
}

OpenedTrace::OpenedTrace(const AnalyseOptions& options, std::span<ReportRequest> requests, ReportRequest* of_waits)
    : options_(options),
      source_(open_for_reading(options.trace)),
      wrappers_(wrapper_list(options.wrappers)),
      symbols_(source_->info(), options.symbols, wrappers_),
      callers_(symbols_, wrappers_) {
  calls_.emplace(modules_.emplace(*source_), names(), options.call_paths);
  std::vector<ReportRequest*> all;
  for (ReportRequest& request : requests) all.push_back(&request);
  if (of_waits != nullptr) {
    of_waits->holders = has_stall_types(info());
    all.push_back(of_waits);
  }
  bool for_caches = false;
  for (ReportRequest* const request : all) {
    request->find_caller = [this](std::span<const std::uint64_t> stack) { return callers_.caller(stack); };
    for_tasks_ = for_tasks_ || needs_task_names(*request, info());
    for_caches = for_caches || needs_cache_names(*request);
  }
  for_modules_ = !info().code.module_changes.empty();
  if (for_tasks_ || for_modules_ || for_caches) ahead_ = open_for_reading(without_call_records(options.trace));
  if (for_tasks_)
    for (ReportRequest* const request : all) request->tasks = &ahead_->info().tasks;
}

OpenedTrace::~OpenedTrace() = default;

const SymbolNames& OpenedTrace::names() const {
  static const NoNames kNone;
  return options_.names ? static_cast<const SymbolNames&>(symbols_) : kNone;
}

bool OpenedTrace::read_ahead(std::span<CacheNames* const> caches) {
  bool complete = true;
  if (ahead_) {
    CallPaths calls(*ahead_, names(), false);
    WatchedSource watched(calls, options_.trace.progress);
    EventBatch batch;
    const bool for_caches = !caches.empty();
    while ((for_tasks_ || for_modules_ || (for_caches && !caches.front()->named_by_allocations())) &&
           watched.read(batch))
      if (for_caches) caches.front()->learn(batch, ahead_->info());
    complete = watched.complete();
  }
  if (!caches.empty()) {
    for (CacheNames* const names : caches.subspan(1)) names->take_learned(*caches.front());
    caches.front()->end_learning();
  }
  modules_->set_events(for_modules_ ? ahead_->info().code.module_events : info().code.module_events);
  if (!for_tasks_) ahead_.reset();
  return complete;
}

bool OpenedTrace::stream(EventStream& events, const bool& wanted) {
  CacheNames* const caches = &events.cache_names();
  bool complete = read_ahead({&caches, 1});
  if (complete) {
    WatchedSource watched(source(), options_.trace.progress);
    EventBatch batch;
    while (wanted && watched.read(batch)) events.add(batch);
    complete = watched.complete();
  }
  events.finish(complete);
  return complete;
}

void OpenedTrace::say_lack_of_calls() const {
  if (options_.call_paths && !has_calls())
    say("note: the trace has no calls. `kmemtrace graph FUNCTION` and ftrace's function_graph record calls\n");
}

ReportResult analyse(const AnalyseOptions& options, ReportRequest request) {
  std::vector<ReportRequest> requests;
  requests.push_back(std::move(request));
  return std::move(analyse(options, std::move(requests)).front());
}

std::vector<ReportResult> analyse(const AnalyseOptions& options, std::vector<ReportRequest> requests,
                                  CallsQuestion* calls, StallsRequest* stalls) {
  // Reading, matching and adding to groups are stages that run in parallel and take about equal time.
  constexpr unsigned kUsefulThreads = 4;
  const unsigned threads = options.threads != 0
                               ? options.threads
                               : std::min(kUsefulThreads, std::max(1u, std::thread::hardware_concurrency()));
  OpenedTrace trace(options, requests, stalls != nullptr ? &stalls->request : nullptr);
  const bool asks_for_cgroups =
      options.says_lack_of_cgroups && std::ranges::any_of(requests, [](const ReportRequest& request) {
        return std::ranges::find(request.by, GroupKey::cgroup) != request.by.end();
      });
  std::vector<std::unique_ptr<ReportAnalysis>> analyses;
  std::vector<ReportAnalysis*> pointers;
  std::vector<CacheNames*> caches;
  for (ReportRequest& request : requests) {
    const bool learns = needs_cache_names(request);
    analyses.push_back(std::make_unique<ReportAnalysis>(trace.info(), trace.names(), std::move(request)));
    pointers.push_back(analyses.back().get());
    if (learns) caches.push_back(&analyses.back()->cache_names());
  }
  std::optional<CallsAlongside> alongside;
  if (calls != nullptr && calls->wanted) {
    alongside.emplace(trace, calls->request, options.btf);
    if (!options.btf_is_checked) say_whose_types(options.btf, trace.info(), alongside->types());
  }
  Source* source = alongside ? &*alongside : &trace.source();
  std::optional<StallsAlongside> waits;
  if (stalls != nullptr) {
    source = &waits.emplace(*source, trace, *stalls);
    caches.push_back(&waits->cache_names());
  }
  bool complete = trace.read_ahead(caches);
  if (complete) {
    WatchedSource watched(*source, options.trace.progress);
    run_analyses(watched, pointers, threads);
    complete = watched.complete();
  }
  trace.say_lack_of_calls();
  if (asks_for_cgroups) say_lack_of_cgroups(trace.info());
  std::vector<ReportResult> results;
  for (ReportAnalysis* const analysis : pointers) {
    results.push_back(analysis->finish(complete));
    results.back().findings.merge(trace.symbols().findings());
  }
  if (calls != nullptr) calls->there = trace.has_calls();
  if (alongside) calls->result = alongside->finish(complete);
  if (waits) stalls->result = waits->finish(complete);
  return results;
}

}  // namespace kmt
