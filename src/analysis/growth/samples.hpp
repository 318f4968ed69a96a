// SPDX-License-Identifier: GPL-2.0-or-later
// Follows sampled allocations over time, by stack and process.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "results/growth/investigation.hpp"
#include "trace/code/symbol_names.hpp"
#include "trace/state/heap_sample.hpp"

namespace kmt {

class SampleGrowth {
 public:
  // Maximum number of time steps in a result. A result has at least half as many steps, unless the samples end very
  // early.
  static constexpr std::size_t kSteps = 64;
  // Maximum number of groups; samples of further groups are only counted.
  static constexpr std::size_t kMostGroups = 200'000;

  // Follows samples for `seconds` from `begin_ns` (CLOCK_MONOTONIC). Ignores allocations of `own_process`, which is
  // kmemtrace itself. `page_bytes` is the kernel's page size. `symbols` must outlive this object.
  SampleGrowth(std::uint64_t mean_bytes, bool pages, const SymbolNames& symbols, std::uint64_t begin_ns, double seconds,
               std::uint32_t own_process, std::uint64_t page_bytes);

  // Restarts the observation. Call this function when the BPF programs have been loaded: loading may take seconds, and
  // these should not count.
  void begin(std::uint64_t now_ns) { begin_ns_ = now_ns; }
  void add(const HeapSample& sample);
  void end(const HeapSampleEnd& end);
  // Removes live samples for which `lives` returns false. Call this function if events of frees were lost. The removed
  // samples count as if they had never lived, because the time of their free is unknown. If they ended now, memory
  // would seem to have grown until now.
  void reconcile(const std::function<bool(std::uint64_t)>& lives);

  // Returns the growth until `end_ns`. `release` is the kernel's release; it determines which paths have no
  // tracepoints.
  GrowthSeen seen(std::uint64_t end_ns, const std::string& release,
                  const std::function<std::string(std::uint64_t)>& cgroup_name) const;
  std::uint64_t not_kept() const { return not_kept_; }  // returns the number of samples that were not followed
  std::uint64_t samples() const { return samples_; }
  // Returns the estimated number of allocations by cache, including freed ones.
  const std::map<std::string, double>& allocations() const { return allocations_; }

 private:
  struct Change {
    std::uint32_t step;
    double bytes;
  };
  struct Group {
    std::vector<std::uint64_t> stack;
    std::uint64_t cgroup;
    std::uint32_t process;  // 0: an interrupt
    std::string task;
    std::string cache;  // a name as in GrowthGroup::cache
    bool pages = false;
    std::uint64_t live = 0;
    std::uint64_t freed = 0;
    std::uint64_t replaced = 0;  // number of samples whose address was allocated again although no free was seen
    double objects = 0;
    double bytes = 0;
    std::vector<Change> changes;  // sorted by fine time step
  };
  struct Live {
    std::uint32_t group;
    std::uint32_t step;  // index of the fine time step in which the object was allocated
    double objects;
    double bytes;
  };
  // Several fine steps are merged into one step of the result. So a result has enough steps even if samples end early.
  static constexpr std::size_t kFineSteps = 16 * kSteps;
  std::uint32_t step_of(std::uint64_t time_ns) const;  // index of the fine time step; kFineSteps: after the last step
  // The allocations of a cache and stack by tasks of equal name. UntracedFrees in analysis/growth/traces groups the
  // allocations in a recording in the same way.
  using Place = std::tuple<std::string, std::string, std::vector<std::uint64_t>>;  // task, cache, stack
  static Place place_of(const Group& group) { return {group.task, group.cache, group.stack}; }
  // Returns the places whose objects are freed through untraced paths: their addresses are allocated again although no
  // free was seen. Objects of these places may look live until their addresses are reused.
  std::set<Place> freed_unseen() const;
  void forget(const Live& object, std::uint32_t step);
  static void change(Group& group, std::uint32_t step, double bytes);

  std::uint64_t mean_bytes_;
  bool pages_;
  const SymbolNames& symbols_;
  std::uint64_t begin_ns_;
  std::uint64_t step_ns_;  // length of a fine step
  std::uint32_t own_process_;
  std::uint64_t page_bytes_;
  std::uint64_t samples_ = 0;
  std::uint64_t not_kept_ = 0;
  std::vector<Group> groups_;
  std::map<std::string, double> allocations_;  // key: cache
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::unordered_map<std::uint64_t, Live> live_;  // key: pointer
};

// Includes the page tables of processes for which `has_too_many` returns true. Other page tables stay excluded, because
// they grow with the memory of their process.
void include_page_tables(const std::function<bool(std::uint32_t process)>& has_too_many, GrowthSeen& seen);

}  // namespace kmt
