// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/export/prometheus.hpp"

#include <functional>
#include <string>
#include <utility>

#include "base/text.hpp"

namespace kmt {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

MetricFamily family_of(std::string name, std::string help, MetricType type) {
  MetricFamily family;
  family.name = std::move(name);
  family.help = std::move(help);
  family.type = type;
  return family;
}

void add(MetricFamily& family, std::vector<ClientMetric::Label> labels, double value) {
  ClientMetric metric;
  metric.label = std::move(labels);
  if (family.type == MetricType::Counter)
    metric.counter.value = value;
  else
    metric.gauge.value = value;
  family.metric.push_back(std::move(metric));
}

void add_rows(std::vector<MetricFamily>& families, const std::string& prefix, const std::string& label,
              const std::string& what, const std::vector<ExportedRow>& rows) {
  MetricFamily events =
      family_of("kmemtrace_" + prefix + "allocations_total", "Allocations of " + what, MetricType::Counter);
  MetricFamily bytes =
      family_of("kmemtrace_" + prefix + "allocated_bytes_total", "Bytes allocated, of " + what, MetricType::Counter);
  MetricFamily live =
      family_of("kmemtrace_" + prefix + "live_bytes",
                "Live bytes of allocations since the start of kmemtrace serve, estimated from samples, of " + what,
                MetricType::Gauge);
  for (const ExportedRow& row : rows) {
    const std::vector<ClientMetric::Label> labels = {{label, printable(row.name)}};
    add(events, labels, static_cast<double>(row.events));
    add(bytes, labels, static_cast<double>(row.bytes));
    add(live, labels, row.live_bytes);
  }
  for (MetricFamily* const family : {&events, &bytes, &live}) families.push_back(std::move(*family));
}

void add_cache_objects(std::vector<MetricFamily>& families, const std::vector<CacheCount>& caches) {
  const auto counter = [](const char* name, const char* help) {
    return family_of(std::string("kmemtrace_cache_objects_") + name, help, MetricType::Counter);
  };
  MetricFamily allocated = counter("allocated_total", "Objects of the slab cache that were allocated");
  MetricFamily freed = counter("freed_total", "Objects of the slab cache that were freed");
  MetricFamily allocated_bytes =
      counter("allocated_bytes_total", "Bytes of the objects of the slab cache that were allocated");
  MetricFamily freed_bytes = counter("freed_bytes_total", "Bytes of the objects of the slab cache that were freed");
  for (const CacheCount& cache : caches) {
    const std::vector<ClientMetric::Label> labels = {{"cache", printable(cache.name)},
                                                     {"object_bytes", std::to_string(cache.object_bytes)}};
    add(allocated, labels, static_cast<double>(cache.allocations));
    add(freed, labels, static_cast<double>(cache.frees));
    add(allocated_bytes, labels, static_cast<double>(cache.allocations * cache.object_bytes));
    add(freed_bytes, labels, static_cast<double>(cache.frees * cache.object_bytes));
  }
  for (MetricFamily* const family : {&allocated, &freed, &allocated_bytes, &freed_bytes})
    families.push_back(std::move(*family));
}

}  // namespace

std::vector<MetricFamily> metric_families(const ExportedMetrics& metrics) {
  std::vector<MetricFamily> families;
  add_rows(families, "slab_", "call_site", "slab objects by call site", metrics.call_sites);
  add_rows(families, "cache_", "cache", "slab objects by cache", metrics.caches);
  add_rows(families, "page_", "size", "pages by size", metrics.page_orders);
  add_rows(families, "module_", "module", "slab objects by module of the call site", metrics.modules);
  if (metrics.cache_objects) add_cache_objects(families, *metrics.cache_objects);
  MetricFamily missed = family_of("kmemtrace_missed_total", "Events that were missed, by kind", MetricType::Counter);
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
  for (const auto& [kind, count] : kinds) add(missed, {{"what", kind}}, static_cast<double>(count));
  families.push_back(std::move(missed));
  MetricFamily uncounted =
      family_of("kmemtrace_uncounted_function",
                "Kernel functions whose objects the metrics kmemtrace_cache_objects_... lack", MetricType::Gauge);
  for (const std::string& function : metrics.uncounted.functions)
    add(uncounted, {{"function", printable(function)}, {"reason", printable(metrics.uncounted.reason)}}, 1);
  if (!uncounted.metric.empty()) families.push_back(std::move(uncounted));
  MetricFamily info = family_of("kmemtrace_kernel_info", "The traced kernel", MetricType::Gauge);
  add(info, {{"release", printable(metrics.kernel)}}, 1);
  families.push_back(std::move(info));
  MetricFamily memory =
      family_of("kmemtrace_kernel_memory_bytes", "Kernel memory that kmemtrace serve uses", MetricType::Gauge);
  add(memory, {}, static_cast<double>(metrics.memory));
  families.push_back(std::move(memory));
  MetricFamily cpu = family_of("kmemtrace_cpu_seconds_total", "CPU time of kmemtrace itself", MetricType::Counter);
  add(cpu, {}, metrics.cpu_seconds);
  families.push_back(std::move(cpu));
  MetricFamily start = family_of("kmemtrace_start_time_seconds",
                                 "Start of kmemtrace serve, in seconds since 1970 (Unix time)", MetricType::Gauge);
  add(start, {}, metrics.start_unix_seconds);
  families.push_back(std::move(start));
  return families;
}

}  // namespace kmt
