// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the counts that programs with cache_counters.bpf.h make in the kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <bpf/libbpf.h>

#include "base/error.hpp"
#include "capture/bpf/mapped_array.hpp"
#include "capture/bpf/tracepoint_arguments.hpp"
#include "trace/code/untraced_paths.hpp"
#include "trace/state/cache_counts.hpp"

namespace kmt {

// A program that counts the objects of a kernel function without a tracepoint (slab_paths.bpf.h).
struct PathProgram {
  bpf_program* program;
  std::string function;
};
template <typename Object>
std::vector<PathProgram> path_programs(Object& object) {
  return {{object->progs.free_bulk, std::string(kBulkFreeFunction)},
          {object->progs.free_rcu_sheaf, "__kfree_rcu_sheaf"},
          {object->progs.free_nolock, std::string(kNolockFreeFunction)},
          {object->progs.alloc_bulk, std::string(kBulkAllocFunction)},
          {object->progs.alloc_nolock, std::string(kNolockAllocFunction)}};
}

struct CacheRequest {
  bool counts = false;  // true: count the objects of each slab cache, if the kernel supports this
  bool probes = true;   // true: also count the objects of paths without a tracepoint
};

class CacheTables {
 public:
  // Sizes the map, which is not created yet. If no counts are requested or the kernel lacks the needed function, the
  // map is as small as possible. Returns true if the programs should count. Selects the programs of paths that this
  // kernel has.
  bool prepare(bpf_map* map, std::size_t cpus, CacheRequest request, const KernelTypes& types,
               std::vector<PathProgram> paths);
  // Maps the created map into this process. Throws Error.
  void open();
  // Attaches the programs of paths. If the kernel refuses a program, the path is not counted.
  template <typename Object>
  void attach_paths(Object& object) {
    for (const PathProgram& path : paths_) {
      try {
        object.attach(path.program);
      } catch (const Error&) {
        uncounted_.functions.push_back(path.function);
      }
    }
  }
  // Returns the counts since the start, sorted by name. `uncounted_objects` is the variable of the programs.
  CacheCounts read(std::uint64_t uncounted_objects) const;

 private:
  // Returns how many calls of functions that free or allocate were not counted, because the CPU was still counting an
  // earlier call.
  std::uint64_t missed_calls() const;

  bpf_map* map_ = nullptr;
  std::size_t entries_ = 0;
  CacheCounting counting_ = CacheCounting::not_requested;
  MappedArray memory_;
  std::vector<PathProgram> paths_;
  UncountedObjects uncounted_;
};

}  // namespace kmt
