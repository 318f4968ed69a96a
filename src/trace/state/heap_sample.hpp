// SPDX-License-Identifier: GPL-2.0-or-later
// Allocations of the running kernel: samples of single allocations, and exact sums for each call site.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/state/cache_counts.hpp"

namespace kmt {

enum class AllocationContext : std::uint8_t { task, softirq, hardirq };

// Maximum of the mean distance between samples, in bytes. The kernel's computation would overflow for larger values:
// see capture/bpf/programs/poisson.h.
inline constexpr std::uint64_t kMostMeanBytes = std::uint64_t{1} << 34;

// A sampled allocation. Its texts and frames are only valid until the next sample.
struct HeapSample {
  // Address of the object or of the struct page; identifies the allocation until it is freed.
  std::uint64_t pointer = 0;
  std::uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  std::uint64_t call_site = 0;
  std::uint64_t requested = 0;  // bytes
  std::uint64_t allocated = 0;
  std::uint64_t cgroup = 0;   // ID of the task's cgroup; 0: allocated in a softirq
  std::uint32_t process = 0;  // ID of the process; in a hardirq, of the interrupted process
  std::uint32_t task = 0;
  AllocationContext context = AllocationContext::task;
  bool pages = false;     // true: pages; false: slab object
  bool kmalloc = false;   // only for slab objects; true: allocated by kmalloc; false: by kmem_cache_alloc
  bool followed = false;  // true: a HeapSampleEnd will report the end of this allocation
  std::string_view comm;
  std::string_view cache;                // name of the cache; empty if the event does not contain it
  std::span<const std::uint64_t> stack;  // innermost first
};

// The end of a sampled allocation.
struct HeapSampleEnd {
  std::uint64_t pointer = 0;
  std::uint64_t time_ns = 0;
  bool replaced = false;  // true: the free was not traced, but the address was allocated again
  // True: the next event reports the same allocation. That event counts, and this one does not.
  bool duplicate_event = false;
};

// Exact sums for one call site and process in one interval.
struct HeapSite {
  std::uint64_t call_site = 0;  // 0 if the event does not contain it
  std::string cache;  // name of the cache; empty for pages and for kmalloc, whose caches bytes_each identifies
  std::uint64_t bytes_each = 0;  // bytes of an object of the kmalloc cache; for pages, bytes of a block
  bool pages = false;
  AllocationContext context = AllocationContext::task;
  std::uint32_t process = 0;
  std::string comm;
  std::uint64_t cgroup = 0;  // ID of the task's cgroup; 0: allocated in a softirq
  std::uint64_t events = 0;  // number of allocations, including failed ones
  std::uint64_t failed = 0;
  std::uint64_t requested = 0;
  std::uint64_t allocated = 0;
};

// Numbers of samples and events that were lost since sampling started.
struct HeapLosses {
  std::uint64_t samples = 0;  // number of samples lost because the ring buffer was full
  // Number of followed samples whose free was lost. Either the ring buffer was full, or the kernel's table of samples
  // was busy.
  std::uint64_t ends = 0;
  // Number of samples that were not followed until their free. Either too many samples were live, or the kernel's table
  // of samples was busy.
  std::uint64_t unfollowed = 0;
  std::uint64_t no_stack = 0;
  std::uint64_t sites = 0;       // number of events that did not fit into the tables of HeapSite sums
  std::uint64_t site_bytes = 0;  // bytes of the events that `sites` counts
  // Number of allocations that were not counted, because the CPU was still handling an earlier event of the same type.
  std::uint64_t missed = 0;
  std::uint64_t missed_frees = 0;
  std::uint64_t not_followed_processes = 0;
};

// Information about a sampled profile, without its samples.
struct HeapProfileFacts {
  std::string selection;  // text of the selected tasks or cgroup; empty: the whole machine
  std::string kernel;     // kernel release
  std::uint64_t start_unix_ns = 0;
  std::uint64_t duration_ns = 0;
  std::uint64_t mean_bytes = 0;  // mean distance between two samples, in bytes
  bool has_pages = false;
  CacheCounts caches;
  HeapLosses losses;
  std::uint64_t replaced = 0;        // number of samples whose address was allocated again although no free was seen
  std::uint64_t memory = 0;          // bytes of kernel memory that kmemtrace uses
  std::uint64_t own_cpu_ns = 0;      // CPU time of the kmemtrace process
  std::vector<std::string> missing;  // names of events that this kernel lacks
};

// Numbers of those samples of a group that have the same requested and allocated size.
struct DrawnSize {
  std::uint64_t requested = 0;  // bytes
  std::uint64_t allocated = 0;
  std::uint64_t drawn = 0;  // number of samples taken during the profile
  // Number of samples that are live at the end of the profile, including samples from before the profile.
  std::uint64_t live = 0;
};

// Samples that are equal in all properties except their sizes.
struct DrawnGroup {
  std::vector<std::uint64_t> stack;  // innermost frame first; does not contain frames of tracing functions
  std::uint64_t call_site = 0;       // 0 if the event does not contain it
  std::uint64_t cgroup = 0;          // ID of the cgroup
  std::uint32_t process = 0;
  AllocationContext context = AllocationContext::task;
  bool pages = false;
  std::string comm;
  // Name of the cache. Empty if the event does not contain the name; all samples of the group then have one size.
  std::string cache;
  std::vector<DrawnSize> sizes;  // without duplicate sizes
};

// A sampled profile as it is stored in a file. The command `profile` computes all its numbers from this data.
struct DrawnProfile : HeapProfileFacts {
  std::vector<DrawnGroup> groups;
  std::map<std::uint64_t, std::string> cgroups;  // by ID: names of the cgroups in `groups`
};

}  // namespace kmt
