// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's own memory counters in all samples of a trace.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kmt {

enum class MemorySource : std::uint8_t {
  meminfo,           // bytes
  vmstat,            // bytes
  vmstat_rate,       // bytes per second since the previous sample
  slabinfo_objects,  // bytes of objects in use in a cache; SLUB counts all objects of per-CPU slabs as used
  slabinfo_pages,    // bytes of the slab pages of a cache
};

// Returns the name of the source in JSON.
inline std::string_view id_of(MemorySource source) {
  constexpr std::array<std::string_view, 5> kIds = {"meminfo", "vmstat", "vmstat-rate", "slabinfo-objects",
                                                    "slabinfo-pages"};
  return kIds[static_cast<std::size_t>(source)];
}

struct MemorySeriesPoint {
  std::uint64_t time_ns = 0;
  double value = 0;
};

struct MemorySeries {
  MemorySource source = MemorySource::meminfo;
  std::string name;                       // "SUnreclaim", "pgalloc_normal", "kmalloc-64"; not escaped
  std::vector<MemorySeriesPoint> points;  // sorted by time; samples without the value have no point
};

}  // namespace kmt
