// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/state/slab_extensions.hpp"

#include "base/number.hpp"

namespace kmt {

namespace {

// Returns the object size of a general kmalloc cache from its name, "kmalloc-192" or "kmalloc-1k". 0: another cache.
std::uint64_t size_of_kmalloc(std::string_view name) {
  constexpr std::string_view kPrefix = "kmalloc-";
  if (!name.starts_with(kPrefix)) return 0;
  name.remove_prefix(kPrefix.size());
  const auto size = take_number<std::uint32_t>(name);
  if (!size || (!name.empty() && name != "k")) return 0;
  return name == "k" ? std::uint64_t{*size} * 1024 : *size;
}

}  // namespace

SlabExtensions slab_extensions(const std::vector<SlabInfo>& caches,
                               const std::function<bool(const std::string&)>& counts) {
  constexpr std::uint64_t kMostObjects = 0x7FFF;      // a struct slab counts its objects in 15 bits
  std::map<std::uint64_t, std::string_view> kmalloc;  // key: object size; value: name of the cache
  for (const SlabInfo& cache : caches)
    if (const std::uint64_t size = size_of_kmalloc(cache.name)) kmalloc.emplace(size, cache.name);
  SlabExtensions found;
  for (const SlabInfo& cache : caches) {
    if (cache.objects_per_slab == 0 || cache.objects_per_slab > kMostObjects || !counts(cache.name)) continue;
    const auto small = kmalloc.lower_bound(cache.objects_per_slab * 8);
    const auto large = kmalloc.lower_bound(cache.objects_per_slab * 16);
    if (small != kmalloc.end()) found.least += cache.slabs * small->first;
    if (small != kmalloc.end()) found.by_cache[small->second] += cache.slabs * small->first;
    if (large != kmalloc.end() && large != small) found.by_cache[large->second] += cache.slabs * large->first;
  }
  return found;
}

}  // namespace kmt
