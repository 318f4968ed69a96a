// SPDX-License-Identifier: GPL-2.0-or-later
// A snapshot as plain structs: the contents of the kernel's files about its memory at one time. The parsers are in
// src/snapshot. They also keep lines and columns that they do not know.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/state/memory_owner.hpp"
#include "trace/tasks/pod_names.hpp"

namespace kmt {

// A name and a number in meminfo, vmstat, memory.stat and similar files.
struct NamedAmount {
  std::string name;
  std::uint64_t value = 0;
  bool in_bytes = false;  // true: the text has the unit kB, and `value` is converted to bytes
};
using NamedAmounts = std::vector<NamedAmount>;  // in the order of the lines in the text

inline std::optional<std::uint64_t> find_number(const NamedAmounts& numbers, std::string_view name) {
  for (const NamedAmount& number : numbers)
    if (number.name == name) return number.value;
  return std::nullopt;
}
inline std::uint64_t number_or_0(const NamedAmounts& numbers, std::string_view name) {
  return find_number(numbers, name).value_or(0);
}

using NamedText = std::pair<std::string, std::string>;

// A line of slabinfo.
struct SlabInfo {
  std::string name;
  // Number of objects in use; SLUB also counts free objects in slabs and sheaves of CPUs.
  std::uint64_t active_objects = 0;
  std::uint64_t objects = 0;
  std::uint64_t object_bytes = 0;  // size of an object in bytes, including padding and metadata
  std::uint64_t objects_per_slab = 0;
  std::uint64_t pages_per_slab = 0;
  std::uint64_t slabs = 0;
  std::vector<NamedText> others;  // unknown columns
};

// The contents of a folder in /sys/kernel/slab. A member is empty if this kernel does not have the file.
struct SlabAttributes {
  std::string name;                  // name of the folder: "kmalloc-96", or ":0000096" for merged caches
  std::vector<std::string> aliases;  // names of the caches that were merged into this cache
  std::optional<std::uint64_t> object_bytes;
  std::optional<std::uint64_t> slab_bytes;  // size of an object in bytes, including padding and metadata
  std::optional<std::uint64_t> align;
  std::optional<std::uint64_t> order;
  std::optional<std::uint64_t> objects;
  std::optional<std::uint64_t> total_objects;
  std::optional<std::uint64_t> slabs;
  std::optional<std::uint64_t> partial;            // number of slabs on the partial lists of nodes
  std::optional<std::uint64_t> cpu_slabs;          // number of slabs from which CPUs allocate now
  std::optional<std::uint64_t> cpu_partial_slabs;  // number of slabs on the partial lists of CPUs
  std::vector<NamedText> others;                   // contents of other files in the folder
};

// The areas in vmallocinfo that one function requested.
struct VmallocCaller {
  std::string function;
  std::uint64_t areas = 0;
  std::uint64_t virtual_bytes = 0;
  std::uint64_t pages = 0;         // number of pages that vmalloc allocated for these areas
  std::uint64_t mapped_bytes = 0;  // bytes of areas that map other memory: ioremap, vmap and similar functions
  bool stacks = false;             // true: the areas are stacks of tasks
};

// A line of allocinfo, or one stack in alloc_traces, page_owner or kmemleak.
struct AllocationSite {
  std::string name;  // "mm/slub.c:2367 func:alloc_slab_page", or the name of the function
  std::string of;    // the slab cache or, in allocinfo, the module; may be empty
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;         // 0: unknown
  bool approximate = false;        // true: the text has rounded bytes, such as "2.8M"
  std::vector<std::string> stack;  // innermost first
  std::string others;              // all other fields of the line

  // Returns the frames of the stack that follow the frame `name`, which are its callers. Frames before `name` belong to
  // the allocator.
  std::span<const std::string> callers() const {
    const auto at = std::find(stack.begin(), stack.end(), name);
    return std::span(stack).subspan(at == stack.end() ? 0 : static_cast<std::size_t>(at - stack.begin()) + 1);
  }
};

struct CgroupMemory {
  std::string path;     // "/system.slice/cron.service"
  NamedAmounts values;  // lines of memory.stat; amounts of memory are in bytes
};

// A memory zone, from zoneinfo and buddyinfo.
struct MemoryZone {
  unsigned node = 0;
  std::string name;
  NamedAmounts values;                          // lines of zoneinfo, in pages; includes "managed"
  std::optional<std::uint64_t> cpu_list_pages;  // number of pages in the per-CPU lists
  std::vector<std::uint64_t> free;              // by order: number of free blocks (buddyinfo)
  bool has_end = false;                         // zoneinfo has the last line of the zone
};

// The memory of a NUMA node, from /sys/devices/system/node/nodeN/meminfo.
struct NodeMemory {
  unsigned node = 0;
  NamedAmounts values;  // amounts in bytes, and numbers of huge pages
};

// Numbers of free blocks of one zone and migrate type (pagetypeinfo).
struct FreeByType {
  unsigned node = 0;
  std::string zone;
  std::string type;
  // Number of free blocks by order; the kernel counts at most 100,000 blocks of an order.
  std::vector<std::uint64_t> free;
};

// Numbers of pageblocks of one migrate type in all zones (pagetypeinfo).
struct BlocksByType {
  std::string type;
  std::uint64_t blocks = 0;
  // Blocks that contain a page of another type. Only kernels with page_owner=on count them.
  std::optional<std::uint64_t> mixed;
};

struct PercpuUse {
  // Bytes of the first percpu chunk, for all CPUs together. These bytes are not part of MemTotal, because the kernel
  // allocated this chunk before it computed MemTotal.
  std::optional<std::uint64_t> first_chunk_bytes;
  NamedAmounts values;  // lines of percpu_stats
};

// A task in the table of tasks that the kernel logs for an OOM kill.
struct OomTask {
  std::uint64_t pid = 0;
  std::string name;
  std::uint64_t rss_pages = 0;
  std::uint64_t swap_pages = 0;
  std::optional<std::uint64_t> page_table_bytes;  // bytes of page tables; in reports since Linux 4.15
};

// A cgroup that reached its limit. All amounts include the cgroup's children.
struct CgroupLimit {
  CgroupMemory memory;  // `values` has names of memory.stat, and for version 1 "kmem.usage_in_bytes"
  std::optional<std::uint64_t> usage_bytes;
  std::optional<std::uint64_t> limit_bytes;
};

// The kernel's report about an OOM kill, a failed allocation or SysRq+M. Members are empty if the report lacks them.
struct OomKill {
  std::string invoked_by;  // the process whose allocation failed
  std::string gfp_flags;
  std::optional<std::uint64_t> order;
  std::string victim;
  std::uint64_t victim_pid = 0;
  std::vector<OomTask> tasks;
  // True: the report is cut off, so MemTotal is the sum of the zones in the report, or unknown.
  bool has_total_of_zones = false;
  // Set if a task was killed because this cgroup reached its limit. The report then shows only this cgroup's memory,
  // and not the machine's.
  std::optional<CgroupLimit> cgroup;
};

// A slab cache for which the kernel only reported bytes, not numbers of objects.
struct SlabTotal {
  std::string name;
  std::uint64_t used_bytes = 0;
  std::uint64_t bytes = 0;
};

struct MissingSource {
  std::string name;
  std::string why;
  std::string how;  // advice on how to make the file available; may be empty
};

// A line that could not be parsed.
struct UnknownLine {
  std::string source;
  std::string line;
};

struct KernelMemory {
  std::uint64_t unix_ns = 0;  // 0: unknown
  std::uint32_t page_size = 4096;
  std::string release;  // uname -r and -m; empty: unknown
  std::string machine;
  std::string host;  // uname -n

  NamedAmounts meminfo;
  NamedAmounts vmstat;  // numbers as in the file; most are numbers of pages
  std::vector<SlabInfo> slabs;
  std::vector<SlabAttributes> slab_attributes;
  std::vector<MemoryZone> zones;
  std::optional<unsigned> cpus;   // number of CPUs with lists of pages in zoneinfo
  std::vector<NodeMemory> nodes;  // empty on machines with one node
  std::vector<FreeByType> free_by_type;
  std::vector<BlocksByType> blocks_by_type;
  std::vector<VmallocCaller> vmalloc;
  std::vector<AllocationSite> allocinfo;
  PercpuUse percpu;
  NamedAmounts pressure;  // "some" and "full": microseconds in which tasks waited for memory, since the boot
  std::optional<double> pressure_in_5_minutes;  // share of the last 5 minutes in which any task waited for memory
  NamedAmounts sockets;                         // "TCP mem", in pages; "FRAG memory", in bytes
  NamedAmounts recorder;                        // memory of the recorder: "ring_buffers" and "bpf_maps", in bytes
  std::vector<CgroupMemory> cgroups;
  PodNames pods;
  std::vector<AllocationSite> slab_allocations;  // alloc_traces: call sites of live objects
  std::vector<AllocationSite> slab_frees;        // free_traces: call sites that freed objects
  std::vector<AllocationSite> page_owners;       // `count` is a number of pages
  std::vector<AllocationSite> kmemleak;
  std::vector<MemoryOwner> owners;  // owners of memory in no counter; each has a unique kind and name
  std::optional<OomKill> oom;       // the report in the kernel's log; set if all numbers are from this report
  std::vector<SlabTotal> unreclaimable_slabs;
  std::vector<MissingSource> missing;
  std::vector<UnknownLine> unknown;  // lines that could not be parsed; only the first few of each source
  std::uint64_t unknown_lines = 0;   // number of all lines that could not be parsed
  std::vector<std::string> has;      // names of the sources that could be read
};

// True if the source is missing, or if a part of it is.
inline bool lacks(const KernelMemory& memory, std::string_view source) {
  return std::ranges::find(memory.missing, source, &MissingSource::name) != memory.missing.end();
}

// Returns the cgroup whose memory is shown instead of the machine's. nullptr if there is none.
inline const CgroupLimit* limited_cgroup(const KernelMemory& memory) {
  return memory.oom && memory.oom->cgroup ? &*memory.oom->cgroup : nullptr;
}

}  // namespace kmt
