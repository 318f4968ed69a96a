// SPDX-License-Identifier: GPL-2.0-or-later
// Allocations of the running kernel as they are watched: samples, and exact sums by site.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kmt {

enum class AllocationContext : std::uint8_t { task, softirq, hardirq };

// Between samples, on average; more would overflow in the kernel (capture/bpf/programs/poisson.h).
inline constexpr std::uint64_t kMostMeanBytes = std::uint64_t{1} << 34;

// An allocation that was drawn; texts and frames are the watcher's until the next one.
struct HeapSample {
  std::uint64_t pointer = 0;  // of the object or struct page: names it until it is freed
  std::uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  std::uint64_t call_site = 0;
  std::uint64_t requested = 0;  // bytes
  std::uint64_t allocated = 0;
  std::uint64_t cgroup = 0;  // id; 0: of an interrupt
  std::uint32_t process = 0;
  std::uint32_t task = 0;
  AllocationContext context = AllocationContext::task;
  bool pages = false;     // else a slab object
  bool kmalloc = false;   // of that, of whatever cache: else of a cache of its own
  bool followed = false;  // its free will be reported
  std::string_view comm;
  std::string_view cache;                // empty where the event does not say
  std::span<const std::uint64_t> stack;  // innermost first
};

// Its end.
struct HeapSampleEnd {
  std::uint64_t pointer = 0;
  std::uint64_t time_ns = 0;
  bool replaced = false;         // another object has its address: its free was not seen
  bool duplicate_event = false;  // the next event reports the same allocation, and counts instead
};

// Exact sums of one interval.
struct HeapSite {
  std::uint64_t call_site = 0;   // 0 where the event does not say
  std::string cache;             // empty for kmalloc, whose caches are named by size, and for pages
  std::uint64_t bytes_each = 0;  // the bytes of kmalloc's size class, or the pages of an order
  bool pages = false;
  AllocationContext context = AllocationContext::task;
  std::uint32_t process = 0;
  std::string comm;
  std::uint64_t cgroup = 0;  // likewise
  std::uint64_t events = 0;  // some of them failed
  std::uint64_t failed = 0;
  std::uint64_t requested = 0;
  std::uint64_t allocated = 0;
};

// Samples that could not be kept, since the start.
struct HeapLosses {
  std::uint64_t samples = 0;     // the ring buffer was full
  std::uint64_t ends = 0;        // likewise, or the kernel's table of samples was busy
  std::uint64_t unfollowed = 0;  // samples whose end will not be seen: too many are live, or that table was busy
  std::uint64_t no_stack = 0;
  std::uint64_t sites = 0;       // events that did not fit into the tables of exact sums
  std::uint64_t site_bytes = 0;  // theirs
  std::uint64_t missed = 0;      // allocations that came while the same event was being handled on their CPU
  std::uint64_t missed_frees = 0;
  std::uint64_t not_followed_processes = 0;
};

// Facts about a sampled profile beside its samples.
struct HeapProfileFacts {
  std::string selection;  // empty: the whole machine
  std::string kernel;     // release
  std::uint64_t start_unix_ns = 0;
  std::uint64_t duration_ns = 0;
  std::uint64_t mean_bytes = 0;  // one sample per this many bytes, on average
  bool has_pages = false;
  HeapLosses losses;
  std::uint64_t replaced = 0;        // live samples whose address another object has: their free was not seen
  std::uint64_t memory = 0;          // bytes taken in the kernel
  std::uint64_t own_cpu_ns = 0;      // of this program
  std::vector<std::string> missing;  // events that this kernel does not have
};

// Samples of one size.
struct DrawnSize {
  std::uint64_t requested = 0;  // bytes
  std::uint64_t allocated = 0;
  std::uint64_t drawn = 0;  // in the profile's time
  std::uint64_t live = 0;   // at its end, of all that were ever drawn
};

// Samples that differ only in size.
struct DrawnGroup {
  std::vector<std::uint64_t> stack;  // innermost first, without the frames of the tracing itself
  std::uint64_t call_site = 0;       // 0 where the event does not say
  std::uint64_t cgroup = 0;          // id
  std::uint32_t process = 0;
  AllocationContext context = AllocationContext::task;
  bool pages = false;
  std::string comm;
  std::string cache;             // empty where the event does not say: then all are of one size
  std::vector<DrawnSize> sizes;  // each once
};

// A sampled profile as it is kept: everything else can be computed of it.
struct DrawnProfile : HeapProfileFacts {
  std::vector<DrawnGroup> groups;
  std::map<std::uint64_t, std::string> cgroups;  // names of those in groups, by id
};

}  // namespace kmt
