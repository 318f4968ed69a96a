// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/export/prometheus.hpp"

#include <map>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "views/export/metric_family.hpp"

namespace kmt {

namespace {

using Families = std::vector<prometheus::MetricFamily>;
using Labels = std::vector<prometheus::ClientMetric::Label>;

void add_rows(Families& families, const std::string& prefix, const std::string& label, const std::string& what,
              const std::vector<ExportedRow>& rows) {
  Family events = Family::counter(prefix + "allocations_total", "Allocations of " + what);
  Family bytes = Family::counter(prefix + "allocated_bytes_total", "Bytes allocated, of " + what);
  Family live =
      Family::gauge(prefix + "live_bytes",
                    "Live bytes of allocations since the start of kmemtrace serve, estimated from samples, of " + what);
  for (const ExportedRow& row : rows) {
    const Labels labels = {{label, printable(row.name)}};
    events.add(labels, static_cast<double>(row.events));
    bytes.add(labels, static_cast<double>(row.bytes));
    live.add(labels, row.live_bytes);
  }
  for (Family* const family : {&events, &bytes, &live}) family->move_to(families);
}

// Caches with the same name and object size share one series, because two series must not have the same labels.
void add_cache_objects(Families& families, const std::vector<CacheCount>& caches) {
  struct Sums {
    std::uint64_t allocations = 0;
    std::uint64_t frees = 0;
  };
  std::map<std::pair<std::string, std::uint64_t>, Sums> sums;
  for (const CacheCount& cache : caches) {
    Sums& sum = sums[{printable(cache.name), cache.object_bytes}];
    sum.allocations += cache.allocations;
    sum.frees += cache.frees;
  }
  const auto counter = [](const char* name, const char* help) {
    return Family::counter(std::string("cache_objects_") + name, help);
  };
  Family allocated = counter("allocated_total", "Objects of the slab cache that were allocated");
  Family freed = counter("freed_total", "Objects of the slab cache that were freed");
  Family allocated_bytes =
      counter("allocated_bytes_total", "Bytes of the objects of the slab cache that were allocated");
  Family freed_bytes = counter("freed_bytes_total", "Bytes of the objects of the slab cache that were freed");
  for (const auto& [cache, sum] : sums) {
    const Labels labels = {{"cache", cache.first}, {"object_bytes", std::to_string(cache.second)}};
    allocated.add(labels, static_cast<double>(sum.allocations));
    freed.add(labels, static_cast<double>(sum.frees));
    allocated_bytes.add(labels, static_cast<double>(sum.allocations * cache.second));
    freed_bytes.add(labels, static_cast<double>(sum.frees * cache.second));
  }
  for (Family* const family : {&allocated, &freed, &allocated_bytes, &freed_bytes}) family->move_to(families);
}

void add_losses(Families& families, const ExportedMetrics& metrics) {
  Family missed = Family::counter("missed_total", "Events that were missed, by kind");
  const HeapLosses& lost = metrics.losses;
  const std::pair<const char*, std::uint64_t> kinds[] = {{"allocations", lost.missed},
                                                         {"frees", lost.missed_frees},
                                                         {"samples", lost.samples},
                                                         {"ends_of_samples", lost.ends},
                                                         {"unfollowed", lost.unfollowed},
                                                         {"events_not_told_apart", lost.sites},
                                                         {"frees_without_tracepoint", metrics.replaced},
                                                         {"objects_without_cache", metrics.uncounted.objects},
                                                         {"calls_without_tracepoint", metrics.uncounted.missed_calls}};
  for (const auto& [kind, count] : kinds) missed.add({{"what", kind}}, static_cast<double>(count));
  missed.move_to(families);
  Family uncounted = Family::gauge("uncounted_function",
                                   "Kernel functions whose objects the metrics kmemtrace_cache_objects_... lack");
  for (const std::string& function : metrics.uncounted.functions)
    uncounted.add({{"function", printable(function)}, {"reason", printable(metrics.uncounted.reason)}}, 1);
  uncounted.move_to(families);
}

// Adds the metrics that BPF programs count.
void add_events(Families& families, const ExportedMetrics& metrics) {
  add_rows(families, "slab_", "call_site", "slab objects by call site", metrics.call_sites);
  add_rows(families, "cache_", "cache", "slab objects by cache", metrics.caches);
  add_rows(families, "page_", "size", "pages by size", metrics.page_orders);
  add_rows(families, "module_", "module", "slab objects by module of the call site", metrics.modules);
  add_rows(families, "subsystem_", "subsystem", "slab objects by subsystem of the call site", metrics.subsystems);
  add_rows(families, "directory_", "directory", "slab objects by source directory of the call site",
           metrics.directories);
  if (metrics.cache_objects) add_cache_objects(families, *metrics.cache_objects);
  add_losses(families, metrics);
}

}  // namespace

std::vector<prometheus::MetricFamily> metric_families(const ExportedMetrics& metrics) {
  Families families;
  const bool has_events = metrics.why_no_events.empty();
  if (has_events) add_events(families, metrics);
  Family events = Family::gauge("events_counted", "1 if BPF programs count allocations; otherwise 0, with the reason");
  events.add({{"reason", printable(metrics.why_no_events)}}, has_events ? 1 : 0);
  events.move_to(families);
  Family info = Family::gauge("kernel_info", "The running kernel");
  info.add({{"release", printable(metrics.kernel)}}, 1);
  info.move_to(families);
  Family build = Family::gauge("build_info", "The version of kmemtrace");
  build.add({{"version", KMEMTRACE_VERSION}}, 1);
  build.move_to(families);
  if (const auto& counts = metrics.investigations) {
    Family investigations = Family::counter("investigations_total", "Investigations that were started, by result");
    investigations.add({{"result", "growth"}}, static_cast<double>(counts->found));
    investigations.add({{"result", "no_growth"}}, static_cast<double>(counts->not_found));
    investigations.add({{"result", "failed"}}, static_cast<double>(counts->failed));
    investigations.move_to(families);
  }
  add_single(Family::gauge("kernel_memory_bytes", "Kernel memory that kmemtrace serve uses"),
             static_cast<double>(metrics.memory), families);
  add_single(Family::counter("cpu_seconds_total", "CPU time of kmemtrace itself"), metrics.cpu_seconds, families);
  add_single(Family::gauge("start_time_seconds", "Start of kmemtrace serve, in seconds since 1970 (Unix time)"),
             metrics.start_unix_seconds, families);
  return families;
}

}  // namespace kmt
