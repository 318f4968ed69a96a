// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's own memory counters over time, from all samples of a trace.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kmt {

enum class MemorySource : std::uint8_t {
  meminfo,           // lines of meminfo, in bytes
  vmstat,            // lines of vmstat, in bytes
  vmstat_rate,       // bytes per second since the previous sample
  slabinfo_objects,  // bytes of a cache's objects in use; with SLUB, free objects that CPUs keep are included
  slabinfo_pages,    // bytes of the slabs of a cache
  // At most this many bytes of a kmalloc cache are accounting data of slabs (trace/state/slab_extensions.hpp). The name
  // SUnreclaim stands for all kmalloc caches together.
  slab_extensions,
  slab_sheaves,  // at most this many bytes of a cache's slabs are full of free objects in sheaves of CPUs
};

// Returns the name that the source has in JSON.
inline std::string_view id_of(MemorySource source) {
  constexpr std::array<std::string_view, 7> kIds = {
      "meminfo", "vmstat", "vmstat-rate", "slabinfo-objects", "slabinfo-pages", "slab-extensions", "slab-sheaves"};
  return kIds[static_cast<std::size_t>(source)];
}

struct MemorySeriesPoint {
  std::uint64_t time_ns = 0;
  double value = 0;
};

struct MemorySeries {
  MemorySource source = MemorySource::meminfo;
  // "SUnreclaim", "pgalloc_normal", "kmalloc-64"; may contain control characters.
  std::string name;
  std::vector<MemorySeriesPoint> points;  // sorted by time; a sample without a value has no point
};

}  // namespace kmt
