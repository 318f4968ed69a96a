// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/export/prometheus_account.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "views/export/metric_family.hpp"

namespace kmt {

namespace {

using Families = std::vector<prometheus::MetricFamily>;

// Adds the lines of the balance sheet whose amount is known. A line with the ID "slab.in-use" is a part of "slab".
void add_sheet(const std::vector<BalanceLine>& sheet, Families& families) {
  Family uses = Family::gauge("memory_bytes", "Memory of the machine by use. All uses add up to MemTotal.");
  Family parts = Family::gauge("memory_part_bytes", "Parts of the uses in kmemtrace_memory_bytes");
  for (const BalanceLine& line : sheet) {
    if (!line.counted || !line.is_exact()) continue;
    const auto bytes = static_cast<double>(line.bytes);
    if (line.depth == 0)
      uses.add({{"use", line.id}}, bytes);
    else if (const std::size_t dot = line.id.find('.'); dot != std::string::npos)
      parts.add({{"use", line.id.substr(0, dot)}, {"part", line.id.substr(dot + 1)}}, bytes);
  }
  uses.move_to(families);
  parts.move_to(families);
}

void add_number(const NamedAmounts& numbers, std::string_view line, Family family, Families& families) {
  if (const auto value = find_number(numbers, line))
    add_single(std::move(family), static_cast<double>(*value), families);
}

void add_meminfo(const SnapshotResult& snapshot, Families& families) {
  add_single(Family::gauge("memory_total_bytes", "MemTotal of meminfo"), static_cast<double>(snapshot.total), families);
  const NamedAmounts& meminfo = snapshot.memory.meminfo;
  add_number(meminfo, "MemAvailable", Family::gauge("memory_available_bytes", "MemAvailable of meminfo"), families);
  add_number(meminfo, "SUnreclaim",
             Family::gauge("slab_unreclaimable_bytes", "Slab memory that the kernel cannot reclaim (SUnreclaim)"),
             families);
  add_number(meminfo, "SReclaimable",
             Family::gauge("slab_reclaimable_bytes", "Slab memory that the kernel can reclaim (SReclaimable)"),
             families);
  add_number(meminfo, "Percpu", Family::gauge("percpu_bytes", "Percpu memory (Percpu of meminfo)"), families);
}

// Slab caches may have the same name. Caches with the same name and object size share one series, because two series
// must not have the same labels.
void add_caches(const std::vector<SlabCacheUse>& caches, Families& families) {
  struct Sums {
    std::uint64_t bytes = 0;
    std::uint64_t active = 0;
    std::uint64_t objects = 0;
  };
  std::map<std::pair<std::string, std::uint64_t>, Sums> sums;
  for (const SlabCacheUse& cache : caches) {
    Sums& sum = sums[{printable(cache.name), cache.object_bytes}];
    sum.bytes += cache.bytes;
    sum.active += cache.active_objects;
    sum.objects += cache.objects;
  }
  Family bytes = Family::gauge("slabinfo_bytes", "Memory of the slab cache's slabs");
  Family active = Family::gauge("slabinfo_active_objects", "Objects in use, including free objects that CPUs keep");
  Family objects = Family::gauge("slabinfo_objects", "Objects for which the slab cache has memory");
  for (const auto& [cache, sum] : sums) {
    const std::vector<prometheus::ClientMetric::Label> labels = {{"cache", cache.first},
                                                                 {"object_bytes", std::to_string(cache.second)}};
    bytes.add(labels, static_cast<double>(sum.bytes));
    active.add(labels, static_cast<double>(sum.active));
    objects.add(labels, static_cast<double>(sum.objects));
  }
  for (Family* const family : {&bytes, &active, &objects}) family->move_to(families);
}

void add_vmalloc(const KernelMemory& memory, std::size_t most_names, Families& families) {
  std::map<std::string, std::uint64_t> bytes;
  for (const VmallocCaller& caller : memory.vmalloc)
    bytes[printable(caller.function)] += caller.pages * memory.page_size;
  std::vector<std::pair<std::string, std::uint64_t>> sorted(bytes.begin(), bytes.end());
  std::ranges::stable_sort(sorted, std::ranges::greater(), [](const auto& caller) { return caller.second; });
  Family callers = Family::gauge("vmalloc_bytes", "Memory that vmalloc allocated, by the function that requested it");
  std::uint64_t others = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i)
    if (i < most_names)
      callers.add({{"function", sorted[i].first}}, static_cast<double>(sorted[i].second));
    else
      others += sorted[i].second;
  if (sorted.size() > most_names) callers.add({{"function", "other"}}, static_cast<double>(others));
  callers.move_to(families);
}

// Numbers of vmstat that count since the boot.
struct VmstatCounter {
  std::string_view line;
  std::string_view metric;
  std::string_view help;
};

constexpr std::array kCounters = {
    VmstatCounter{"compact_stall", "compaction_stalls_total", "Times a task had to compact memory itself"},
    VmstatCounter{"compact_fail", "compaction_failures_total", "Times a task compacted memory without success"},
    VmstatCounter{"oom_kill", "oom_kills_total", "Processes that the OOM killer has killed"},
    VmstatCounter{"pgscan_direct", "direct_reclaim_scanned_pages_total", "Pages that tasks scanned in direct reclaim"},
    VmstatCounter{"pgsteal_direct", "direct_reclaim_reclaimed_pages_total", "Pages that tasks took in direct reclaim"},
    VmstatCounter{"pgscan_kswapd", "kswapd_scanned_pages_total", "Pages that kswapd scanned"},
    VmstatCounter{"pgsteal_kswapd", "kswapd_reclaimed_pages_total", "Pages that kswapd reclaimed"}};

void add_stalls(const KernelMemory& memory, Families& families) {
  std::optional<std::uint64_t> stalls;  // by zone: allocstall_dma32, allocstall_normal; before Linux 4.8: allocstall
  for (const NamedAmount& number : memory.vmstat)
    if (number.name.starts_with("allocstall")) stalls = stalls.value_or(0) + number.value;
  if (stalls)
    add_single(Family::counter("direct_reclaim_stalls_total", "Times a task had to reclaim memory itself (allocstall)"),
               static_cast<double>(*stalls), families);
  for (const VmstatCounter& counter : kCounters)
    add_number(memory.vmstat, counter.line, Family::counter(counter.metric, std::string(counter.help)), families);
  Family pressure = Family::counter("memory_pressure_seconds_total",
                                    "Time in which some or all tasks waited for memory (/proc/pressure/memory)");
  constexpr double kMicrosecond = 1e-6;
  for (const NamedAmount& number : memory.pressure)
    pressure.add({{"tasks", number.name}}, static_cast<double>(number.value) * kMicrosecond);
  pressure.move_to(families);
}

void add_fragmentation(const std::vector<OrderFragmentation>& zones, Families& families) {
  Family unusable = Family::gauge("unusable_free_memory_ratio",
                                  "Share of a zone's free memory in blocks too small for an allocation of this order");
  for (const OrderFragmentation& one : zones)
    unusable.add({{"node", std::to_string(one.zone.node)},
                  {"zone", printable(one.zone.zone)},
                  {"order", std::to_string(one.order)}},
                 one.zone.unusable);
  unusable.move_to(families);
}

void add_health(const std::vector<HealthCheck>& checks, Families& families) {
  Family health = Family::gauge("health", "Result of a health check: 0 ok, 1 warn, 2 bad");
  for (const HealthCheck& check : checks) {
    if (check.health != Health::unknown)
      health.add({{"check", std::string(limits_of(check.topic).id)}}, static_cast<double>(check.health));
    if (check.topic == HealthTopic::dying_cgroups && check.value)
      add_single(Family::gauge("dying_cgroups", "Removed cgroups that still exist in the kernel"), *check.value,
                 families);
  }
  health.move_to(families);
}

}  // namespace

void add_account(const MemoryAccount& account, std::size_t most_names, Families& families) {
  const SnapshotResult& snapshot = account.snapshot;
  add_meminfo(snapshot, families);
  add_sheet(snapshot.sheet, families);
  add_caches(snapshot.caches, families);
  add_vmalloc(snapshot.memory, most_names, families);
  add_stalls(snapshot.memory, families);
  add_fragmentation(account.fragmentation, families);
  add_health(snapshot.health, families);
  Family missing = Family::gauge("missing_source", "Files of the kernel that could not be read, with the reason");
  for (const MissingSource& source : snapshot.memory.missing)
    missing.add({{"source", printable(source.name)}, {"reason", printable(source.why)}}, 1);
  missing.move_to(families);
}

}  // namespace kmt
