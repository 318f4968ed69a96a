// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the counts that programs with cache_counters.bpf.h make in the kernel.
#pragma once

#include <cstddef>
#include <cstdint>

#include <bpf/libbpf.h>

#include "capture/bpf/mapped_array.hpp"
#include "capture/bpf/tracepoint_arguments.hpp"
#include "trace/state/cache_counts.hpp"

namespace kmt {

class CacheTables {
 public:
  // Sizes the map, which is not created yet. If no counts are requested or the kernel lacks the needed function, the
  // map is as small as possible. Returns true if the programs should count.
  bool prepare(bpf_map* map, std::size_t cpus, bool requested, const KernelTypes& types);
  // Maps the created map into this process. Throws Error.
  void open();
  // Returns the counts since the start, sorted by name. `uncounted_objects` is the variable of the programs.
  CacheCounts read(std::uint64_t uncounted_objects) const;

 private:
  bpf_map* map_ = nullptr;
  std::size_t entries_ = 0;
  CacheCounting counting_ = CacheCounting::not_requested;
  MappedArray memory_;
};

}  // namespace kmt
