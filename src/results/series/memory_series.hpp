// SPDX-License-Identifier: GPL-2.0-or-later
// How memory stood from sample to sample of a trace, by the kernel's own account.
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
  vmstat_rate,       // bytes a second since the sample before
  slabinfo_objects,  // bytes of the objects of a cache; SLUB takes those of its per-CPU slabs for used
  slabinfo_pages,    // bytes of the pages of a cache
};

// Its name in documents.
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
  std::vector<MemorySeriesPoint> points;  // by time; samples that lack the value have none
};

}  // namespace kmt
