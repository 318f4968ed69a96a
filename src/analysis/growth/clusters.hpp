// SPDX-License-Identifier: GPL-2.0-or-later
// Groups the allocations of one task name at one kernel entry into clusters. For example, creating a pipe makes five
// allocations at five call sites.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/growth/investigation.hpp"

namespace kmt {

// `entry` is the outermost specific function of a stack, such as "__x64_sys_pipe2" or the work function of a kernel
// thread. Functions that are common to all stacks are skipped.
struct ClusterKey {
  std::string task;  // name of the task; for the kernel's workers, their kind, such as "kworker/*"
  std::string entry;
  auto operator<=>(const ClusterKey&) const = default;  // NOLINT(modernize-use-nullptr)
};

// The groups of one cluster, from the samples and from the recording. A cluster is tested for growth as a whole.
struct GrowthCluster {
  std::vector<const GrowthGroup*> samples;
  std::vector<const GrowthGroup*> trace;
};

// Returns the functions of a stack, innermost first. Excludes interrupted code and functions common to all kernel
// entries.
std::vector<std::string_view> functions_of(const std::vector<std::string>& stack);
// Returns the stack without the frames of interrupted code.
std::vector<std::string> own_stack(const std::vector<std::string>& stack);

// The owner of pages from the page allocator. find_page_owner() determines it from the stack, and removes the
// allocator's own frames from the stack.
struct PageOwner {
  bool is_vmalloc = false;
  bool is_slab = false;        // a page of a slab; its memory is counted as slab objects
  bool is_page_table = false;  // a page table of a process
  bool excluded = false;       // page tables of processes, or page cache; not tested for growth
};
PageOwner find_page_owner(std::vector<std::string>& stack);

// Groups samples and a recording into clusters. Changes `trace`: groups without a stack get the stack that samples have
// for their call site, and processes get the cgroups known from samples. The result points into both arguments.
std::map<ClusterKey, GrowthCluster> clusters_of(const GrowthSeen* samples, GrowthSeen* trace);

// True for slab caches. Other "caches" in samples and recordings are kinds of memory, such as "percpu memory".
bool is_slab_cache(const std::string& cache);
// Returns the live bytes of all groups for each step.
std::vector<double> sum_of(const std::vector<const GrowthGroup*>& groups, std::size_t steps);
std::uint64_t count_of_seen(const std::vector<const GrowthGroup*>& groups);
double sum_of_bytes(const std::vector<const GrowthGroup*>& groups);
std::map<std::string, double> bytes_by_cache(const std::vector<const GrowthGroup*>& groups);

// Returns the innermost function that is in the stacks of at least nine tenths of the bytes.
std::string common_function(const std::vector<const GrowthGroup*>& groups);

}  // namespace kmt
