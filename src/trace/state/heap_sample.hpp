// SPDX-License-Identifier: GPL-2.0-or-later
// Allocations of the running kernel: samples, and exact sums by call site.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kmt {

enum class AllocationContext : std::uint8_t { task, softirq, hardirq };

// Maximum of the average distance between samples. Larger values would overflow in the kernel: see
// capture/bpf/programs/poisson.h.
inline constexpr std::uint64_t kMostMeanBytes = std::uint64_t{1} << 34;

// A sampled allocation. Its texts and frames are borrowed and valid until the next sample.
struct HeapSample {
  std::uint64_t pointer = 0;  // address of the object or struct page; identifies the allocation until it is freed
  std::uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  std::uint64_t call_site = 0;
  std::uint64_t requested = 0;  // bytes
  std::uint64_t allocated = 0;
  std::uint64_t cgroup = 0;  // cgroup ID; 0: interrupt
  std::uint32_t process = 0;
  std::uint32_t task = 0;
  AllocationContext context = AllocationContext::task;
  bool pages = false;     // false: slab object
  bool kmalloc = false;   // slab objects: true for kmalloc, false for kmem_cache_alloc
  bool followed = false;  // the end of the allocation will be reported
  std::string_view comm;
  std::string_view cache;                // empty if the event does not name it
  std::span<const std::uint64_t> stack;  // innermost first
};

// The end of a sampled allocation.
struct HeapSampleEnd {
  std::uint64_t pointer = 0;
  std::uint64_t time_ns = 0;
  bool replaced = false;         // the address was allocated again; the free was not traced
  bool duplicate_event = false;  // the next event reports the same allocation, and is counted instead
};

// Exact sums for one call site and interval.
struct HeapSite {
  std::uint64_t call_site = 0;   // 0 if the event does not contain it
  std::string cache;             // empty for pages, and for kmalloc, whose caches are named by size
  std::uint64_t bytes_each = 0;  // size of the kmalloc class, or of the pages of an order
  bool pages = false;
  AllocationContext context = AllocationContext::task;
  std::uint32_t process = 0;
  std::string comm;
  std::uint64_t cgroup = 0;  // cgroup ID; 0: interrupt
  std::uint64_t events = 0;  // includes failed allocations
  std::uint64_t failed = 0;
  std::uint64_t requested = 0;
  std::uint64_t allocated = 0;
};

// Samples and events that were lost since the start.
struct HeapLosses {
  std::uint64_t samples = 0;     // samples lost because the ring buffer was full
  std::uint64_t ends = 0;        // ends lost because the ring buffer was full or the kernel's table of samples was busy
  std::uint64_t unfollowed = 0;  // samples whose end will not be seen, because too many are live or the table was busy
  std::uint64_t no_stack = 0;
  std::uint64_t sites = 0;       // events that did not fit into the tables of exact sums
  std::uint64_t site_bytes = 0;  // bytes of these events
  std::uint64_t missed = 0;      // allocations skipped because the same event was being handled on their CPU
  std::uint64_t missed_frees = 0;
  std::uint64_t not_followed_processes = 0;
};

// Information about a sampled profile, in addition to its samples.
struct HeapProfileFacts {
  std::string selection;  // empty: the whole machine
  std::string kernel;     // release
  std::uint64_t start_unix_ns = 0;
  std::uint64_t duration_ns = 0;
  std::uint64_t mean_bytes = 0;  // one sample per this many bytes, on average
  bool has_pages = false;
  HeapLosses losses;
  std::uint64_t replaced = 0;        // live samples whose address was allocated again: their free was not traced
  std::uint64_t memory = 0;          // bytes of memory used in the kernel
  std::uint64_t own_cpu_ns = 0;      // CPU time of kmemtrace itself
  std::vector<std::string> missing;  // events that this kernel lacks
};

// Samples of one size.
struct DrawnSize {
  std::uint64_t requested = 0;  // bytes
  std::uint64_t allocated = 0;
  std::uint64_t drawn = 0;  // number of samples during the profile
  std::uint64_t live = 0;   // live samples at the end of the profile; includes samples from before the profile
};

// Samples that are equal except for their sizes.
struct DrawnGroup {
  std::vector<std::uint64_t> stack;  // innermost first, without frames of tracing functions
  std::uint64_t call_site = 0;       // 0 if the event does not contain it
  std::uint64_t cgroup = 0;          // id
  std::uint32_t process = 0;
  AllocationContext context = AllocationContext::task;
  bool pages = false;
  std::string comm;
  std::string cache;             // empty if the event does not name it; all samples then have one size
  std::vector<DrawnSize> sizes;  // each once
};

// A sampled profile as stored in a file. All other data can be computed from it.
struct DrawnProfile : HeapProfileFacts {
  std::vector<DrawnGroup> groups;
  std::map<std::uint64_t, std::string> cgroups;  // names of the cgroups in `groups`, by ID
};

}  // namespace kmt
