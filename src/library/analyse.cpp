// SPDX-License-Identifier: GPL-2.0-or-later
#include "library/analyse.hpp"

#include <algorithm>
#include <thread>

#include "analysis/report/pipeline.hpp"
#include "library/opened_trace.hpp"

namespace kmemtrace {

namespace {

// Returns the number of threads to use. Few are enough, because reading, matching and summing are parallel stages that
// take about the same time.
unsigned useful_threads() { return std::clamp(std::thread::hardware_concurrency(), 1u, 4u); }

kmt::GroupKey key_named(std::string_view name) {
  std::string keys;
  for (const kmt::GroupKeyInfo& info : kmt::group_keys()) {
    if (info.name == name) return info.key;
    keys.append(keys.empty() ? "The keys are " : ", ").append(info.name);
  }
  throw Error("Unknown grouping key \"" + std::string(name) + "\"", "", {}, keys);
}

}  // namespace

std::vector<kmt::GroupKey> keys_named(const std::vector<std::string>& names) {
  if (names.empty() || names.size() > kmt::kMostGroupKeys)
    throw Error("A report needs one to " + std::to_string(kmt::kMostGroupKeys) + " keys", "", {}, "");
  std::vector<kmt::GroupKey> keys;
  for (const std::string& name : names) {
    const kmt::GroupKey key = key_named(name);
    if (std::ranges::find(keys, key) != keys.end()) throw Error("The key \"" + name + "\" is named twice", "", {}, "");
    keys.push_back(key);
  }
  return keys;
}

Analysed analyse(const std::string& path, const std::string& kallsyms, kmt::ReportRequest request) {
  OpenedTrace trace(path, kallsyms);
  kmt::CallerFinder callers(trace.symbols(), trace.wrappers());
  request.find_caller = [&callers](std::span<const std::uint64_t> stack) { return callers.caller(stack); };
  const bool for_tasks = needs_task_names(request, trace.info());
  const bool for_caches = needs_cache_names(request);
  const bool for_modules = trace.needs_module_events();
  const std::unique_ptr<kmt::Source> ahead = for_tasks || for_caches || for_modules ? kmt::open_trace(path) : nullptr;
  if (for_tasks) request.tasks = &ahead->info().tasks;

  kmt::ReportAnalysis analysis(trace.info(), trace.symbols(), std::move(request));
  if (ahead) {
    kmt::CallPaths calls(*ahead, trace.symbols(), false);
    kmt::EventBatch batch;
    while ((for_tasks || for_modules || !analysis.cache_names().named_by_allocations()) && calls.read(batch))
      if (for_caches) analysis.cache_names().learn(batch, ahead->info());
  }
  if (for_caches) analysis.cache_names().end_learning();
  if (for_modules) trace.set_module_events(ahead->info().code.module_events);
  kmt::ReportAnalysis* const analyses[] = {&analysis};
  run_analyses(trace.source(), analyses, useful_threads());
  Analysed analysed{analysis.finish(), machine_of(trace.info())};
  analysed.result.findings.merge(trace.symbols().findings());
  return analysed;
}

}  // namespace kmemtrace
