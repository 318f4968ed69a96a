// SPDX-License-Identifier: GPL-2.0-or-later
// Puts together what one task does at one entry into the kernel: a pipe is five allocations at as many call sites.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/growth/investigation.hpp"

namespace kmt {

// The entry is the outermost function that not every stack has: "__x64_sys_pipe2", a kernel thread's work.
struct ClusterKey {
  std::string task;
  std::string entry;
  auto operator<=>(const ClusterKey&) const = default;  // NOLINT(modernize-use-nullptr)
};

// Groups that are judged, of either source.
struct GrowthCluster {
  std::vector<const GrowthGroup*> samples;
  std::vector<const GrowthGroup*> trace;
};

// Functions of a stack, the innermost first, without what an interrupt interrupted and without those that every entry
// into the kernel passes through.
std::vector<std::string_view> functions_of(const std::vector<std::string>& stack);
// Without what an interrupt interrupted.
std::vector<std::string> own_stack(const std::vector<std::string>& stack);

// Classifies pages straight from the page allocator by their stack, and removes the frames inside that allocator.
struct PageOwner {
  bool is_vmalloc = false;
  bool is_slab = false;   // seen by its objects
  bool excluded = false;  // page tables of processes, and page cache
};
PageOwner find_page_owner(std::vector<std::string>& stack);

// A call site that a recording has without its stack is given the stack that samples have of it, and processes the
// cgroups that these know, which is why `trace` is changed. All is borrowed.
std::map<ClusterKey, GrowthCluster> clusters_of(const GrowthSeen* samples, GrowthSeen* trace);

// Caches of slabs; samples and recordings have others by what they are of.
bool is_slab_cache(const std::string& cache);
// Live bytes of all of them, step by step.
std::vector<double> sum_of(const std::vector<const GrowthGroup*>& groups, std::size_t steps);
std::uint64_t count_of_seen(const std::vector<const GrowthGroup*>& groups);
double sum_of_bytes(const std::vector<const GrowthGroup*>& groups);
std::map<std::string, double> bytes_by_cache(const std::vector<const GrowthGroup*>& groups);

// The innermost function that nine tenths of the bytes pass through.
std::string common_function(const std::vector<const GrowthGroup*>& groups);

}  // namespace kmt
