// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/series/memory_series.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "analysis/series/memory_state.hpp"
#include "base/proc_text.hpp"
#include "trace/state/slab_extensions.hpp"
#include "trace/state/slabinfo.hpp"

namespace kmt {

namespace {

constexpr std::array<std::string_view, 4> kVmstatPages = {"nr_free_pages", "nr_slab_reclaimable",
                                                          "nr_slab_unreclaimable", "nr_page_table_pages"};
constexpr std::array<std::string_view, 7> kVmstatCounters = {
    "pgalloc_dma", "pgalloc_dma32", "pgalloc_normal", "pgalloc_high", "pgalloc_movable", "pgalloc_device", "pgfree"};

void add_if_any(MemorySeries series, std::vector<MemorySeries>& all) {
  if (!series.points.empty()) all.push_back(std::move(series));
}

MemorySeries values_of(MemorySource source, std::string_view text, std::string_view name,
                       const std::vector<StateSample>& samples, double scale) {
  MemorySeries series{source, std::string(name), {}};
  for (const StateSample& sample : samples)
    if (const auto found = find_proc_value(text_of(sample, text), name))
      series.points.push_back({sample.ticks, static_cast<double>(found->value) * scale});
  return series;
}

// True if VmallocUsed counts address space, not memory. Before Linux 4.4 it does, and VmallocChunk is not 0.
bool vmalloc_is_address_space(const std::vector<StateSample>& samples) {
  return std::ranges::any_of(samples, [](const StateSample& sample) {
    const auto chunk = find_proc_value(text_of(sample, "meminfo"), "VmallocChunk");
    return chunk && chunk->value != 0;
  });
}

// Returns the rates of a counter. There is no rate if the counter decreases: the trace is damaged, or the machine was
// resumed from another state.
MemorySeries rates_of(std::string_view name, const std::vector<StateSample>& samples, double scale) {
  MemorySeries series{MemorySource::vmstat_rate, std::string(name), {}};
  std::optional<std::uint64_t> before;
  std::uint64_t before_ns = 0;
  for (const StateSample& sample : samples) {
    const auto found = find_proc_value(text_of(sample, "vmstat"), name);
    if (!found) continue;
    if (before && found->value >= *before && sample.ticks > before_ns) {
      const double seconds = static_cast<double>(sample.ticks - before_ns) / 1e9;
      series.points.push_back({sample.ticks, static_cast<double>(found->value - *before) * scale / seconds});
    }
    before = found->value;
    before_ns = sample.ticks;
  }
  return series;
}

// The series of all caches. `index` has the index of each cache in the vectors `objects` and `pages`.
struct Caches {
  std::unordered_map<std::string, std::size_t> index;
  std::vector<MemorySeries> objects;
  std::vector<MemorySeries> pages;
  std::map<std::string, MemorySeries, std::less<>> extensions;  // key: cache

  void add(const SlabInfo& cache, std::uint64_t time_ns, double page_size) {
    const auto [place, is_new] = index.try_emplace(cache.name, objects.size());
    if (is_new) {
      objects.push_back({MemorySource::slabinfo_objects, cache.name, {}});
      pages.push_back({MemorySource::slabinfo_pages, cache.name, {}});
    }
    const double bytes = static_cast<double>(cache.active_objects) * static_cast<double>(cache.object_bytes);
    objects[place->second].points.push_back({time_ns, bytes});
    pages[place->second].points.push_back(
        {time_ns, static_cast<double>(cache.slabs * cache.pages_per_slab) * page_size});
  }

  void add_extensions(const std::vector<SlabInfo>& caches, std::uint64_t time_ns) {
    const SlabExtensions found = slab_extensions(caches, [](const std::string&) { return true; });
    for (const auto& [cache, bytes] : found.by_cache) add_extension(cache, time_ns, bytes);
    if (found.least > 0) add_extension("SUnreclaim", time_ns, found.least);
  }

 private:
  void add_extension(std::string_view name, std::uint64_t time_ns, std::uint64_t bytes) {
    const auto place = extensions.find(name);
    MemorySeries& series =
        place != extensions.end()
            ? place->second
            : extensions.emplace(name, MemorySeries{MemorySource::slab_extensions, std::string(name), {}})
                  .first->second;
    series.points.push_back({time_ns, static_cast<double>(bytes)});
  }
};

}  // namespace

std::vector<MemorySeries> memory_series_of(const std::vector<StateSample>& samples, std::uint64_t page_size) {
  const auto page = static_cast<double>(page_size);
  std::vector<MemorySeries> all;
  for (const std::string_view name : kMeminfoNames)
    if (name != "VmallocUsed" || !vmalloc_is_address_space(samples))
      add_if_any(values_of(MemorySource::meminfo, "meminfo", name, samples, 1), all);
  for (const std::string_view name : kVmstatPages)
    add_if_any(values_of(MemorySource::vmstat, "vmstat", name, samples, page), all);
  for (const std::string_view name : kVmstatCounters) add_if_any(rates_of(name, samples, page), all);

  Caches caches;
  for (const StateSample& sample : samples) {
    const std::vector<SlabInfo> listed = parse_slabinfo(text_of(sample, "slabinfo")).caches;
    for (const SlabInfo& cache : listed) caches.add(cache, sample.ticks, page);
    caches.add_extensions(listed, sample.ticks);
  }
  std::move(caches.objects.begin(), caches.objects.end(), std::back_inserter(all));
  std::move(caches.pages.begin(), caches.pages.end(), std::back_inserter(all));
  for (auto& [name, series] : caches.extensions) all.push_back(std::move(series));
  return all;
}

}  // namespace kmt
