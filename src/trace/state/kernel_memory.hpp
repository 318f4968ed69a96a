// SPDX-License-Identifier: GPL-2.0-or-later
// A snapshot: the kernel's own files about its memory at one time, as plain structs. src/snapshot makes them from the
// texts and keeps unknown lines and columns beside the known ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kmt {

// A name and its number, of meminfo, vmstat, memory.stat, …
struct NamedAmount {
  std::string name;
  std::uint64_t value = 0;
  bool in_bytes = false;  // the text had kB; the value is in bytes then
};
using NamedAmounts = std::vector<NamedAmount>;  // in the text's order

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
  std::uint64_t active_objects = 0;  // SLUB counts the free ones of the CPUs' slabs and sheaves as active
  std::uint64_t objects = 0;
  std::uint64_t object_bytes = 0;  // with padding and metadata
  std::uint64_t objects_per_slab = 0;
  std::uint64_t pages_per_slab = 0;
  std::uint64_t slabs = 0;
  std::vector<NamedText> others;  // columns that are not known
};

// A folder of /sys/kernel/slab. Empty numbers: this kernel has no such file.
struct SlabAttributes {
  std::string name;                  // "kmalloc-96", or ":0000096" where several caches were merged
  std::vector<std::string> aliases;  // of merged ones
  std::optional<std::uint64_t> object_bytes;
  std::optional<std::uint64_t> slab_bytes;  // an object with padding and metadata
  std::optional<std::uint64_t> align;
  std::optional<std::uint64_t> order;
  std::optional<std::uint64_t> objects;
  std::optional<std::uint64_t> total_objects;
  std::optional<std::uint64_t> slabs;
  std::optional<std::uint64_t> partial;            // slabs
  std::optional<std::uint64_t> cpu_slabs;          // slabs that CPUs allocate from
  std::optional<std::uint64_t> cpu_partial_slabs;  // slabs that CPUs hold in reserve
  std::vector<NamedText> others;                   // other files of the folder
};

// Areas of vmallocinfo by the function that asked for them.
struct VmallocCaller {
  std::string function;
  std::uint64_t areas = 0;
  std::uint64_t virtual_bytes = 0;
  std::uint64_t pages = 0;         // allocated by vmalloc for them
  std::uint64_t mapped_bytes = 0;  // of areas that map what is not theirs: ioremap, vmap and the like
  bool stacks = false;             // they are stacks of tasks
};

// A line of allocinfo, or a stack of alloc_traces, page_owner or kmemleak.
struct AllocationSite {
  std::string name;  // "mm/slub.c:2367 func:alloc_slab_page", or the function
  std::string of;    // the slab cache; the module of allocinfo; else empty
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;         // 0: not known
  std::vector<std::string> stack;  // innermost first
  std::string others;              // other fields of the line

  // The callers of `name` in the stack. The allocator's frames come before it.
  std::span<const std::string> callers() const {
    const auto at = std::find(stack.begin(), stack.end(), name);
    return std::span(stack).subspan(at == stack.end() ? 0 : static_cast<std::size_t>(at - stack.begin()) + 1);
  }
};

struct CgroupMemory {
  std::string path;     // "/system.slice/cron.service"
  NamedAmounts values;  // memory.stat; in bytes where they are amounts
};

// A zone of zoneinfo and buddyinfo.
struct MemoryZone {
  unsigned node = 0;
  std::string name;
  NamedAmounts values;               // of zoneinfo, in pages; "managed" among them
  std::uint64_t cpu_list_pages = 0;  // on the CPUs' own lists
  std::vector<std::uint64_t> free;   // free blocks by order (buddyinfo)
};

// Free blocks of a zone and migrate type by order (pagetypeinfo).
struct FreeByType {
  unsigned node = 0;
  std::string zone;
  std::string type;
  std::vector<std::uint64_t> free;  // the kernel counts up to 100,000 of each
};

struct PercpuUse {
  std::optional<std::uint64_t> first_chunk_bytes;  // of all CPUs; allocated before MemTotal was counted
  NamedAmounts values;                             // percpu_stats
};

struct MissingSource {
  std::string name;
  std::string why;
  std::string how;  // to get it; may be empty
};

// A line that was not understood.
struct UnknownLine {
  std::string source;
  std::string line;
};

struct KernelMemory {
  std::uint64_t unix_ns = 0;  // 0: not known
  std::uint32_t page_size = 4096;
  std::string release;  // uname -r and -m; empty: not known
  std::string machine;
  std::string host;  // uname -n

  NamedAmounts meminfo;
  NamedAmounts vmstat;  // counts
  std::vector<SlabInfo> slabs;
  std::vector<SlabAttributes> slab_attributes;
  std::vector<MemoryZone> zones;
  std::vector<FreeByType> free_by_type;
  std::vector<VmallocCaller> vmalloc;
  std::vector<AllocationSite> allocinfo;
  PercpuUse percpu;
  NamedAmounts sockets;   // "TCP mem", in pages; "FRAG memory", in bytes
  NamedAmounts recorder;  // of who took the snapshot: "ring_buffers" and "bpf_maps", in bytes
  std::vector<CgroupMemory> cgroups;
  std::vector<AllocationSite> slab_allocations;  // alloc_traces: of objects that live
  std::vector<AllocationSite> slab_frees;        // free_traces: who freed the objects that are free
  std::vector<AllocationSite> page_owners;       // counts pages
  std::vector<AllocationSite> kmemleak;
  std::vector<MissingSource> missing;
  std::vector<UnknownLine> unknown;  // the first of each source
  std::uint64_t unknown_lines = 0;   // all of them
  std::vector<std::string> has;      // names of the sources that were read
};

}  // namespace kmt
