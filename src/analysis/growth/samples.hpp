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
  static constexpr std::size_t kSteps = 64;  // maximum number in the result; at least half of it after the first steps
  static constexpr std::size_t kMostGroups = 200'000;  // further samples are only counted

  // Follows samples for `seconds` from `begin_ns` (CLOCK_MONOTONIC). Allocations of `own_process` are ignored.
  // `page_bytes` is the kernel's page size. The symbols are borrowed.
  SampleGrowth(std::uint64_t mean_bytes, bool pages, const SymbolNames& symbols, std::uint64_t begin_ns, double seconds,
               std::uint32_t own_process, std::uint64_t page_bytes);

  // Restarts the clock, because loading the BPF programs may take seconds.
  void begin(std::uint64_t now_ns) { begin_ns_ = now_ns; }
  void add(const HeapSample& sample);
  void end(const HeapSampleEnd& end);
  // Removes live samples for which `lives` returns false; call it if end events were lost. The removed samples count as
  // if they had never lived, because their time of end is unknown: ending them all now would leave a false rise until
  // now.
  void reconcile(const std::function<bool(std::uint64_t)>& lives);

  // Returns the growth until `end_ns`. `release` is the kernel's release, which determines the paths without
  // tracepoints.
  GrowthSeen seen(std::uint64_t end_ns, const std::string& release,
                  const std::function<std::string(std::uint64_t)>& cgroup_name) const;
  std::uint64_t not_kept() const { return not_kept_; }  // samples
  std::uint64_t samples() const { return samples_; }
  // Estimated allocations by cache, including freed ones.
  const std::map<std::string, double>& allocations() const { return allocations_; }

 private:
  struct Change {
    std::uint32_t step;
    double bytes;
  };
  struct Group {
    std::vector<std::uint64_t> stack;
    std::uint64_t cgroup;
    std::uint32_t process;  // 0: interrupt
    std::string task;
    std::string cache;  // same names as in GrowthGroup
    bool pages = false;
    std::uint64_t live = 0;
    std::uint64_t freed = 0;
    std::uint64_t replaced = 0;  // addresses were allocated again although no free was seen
    double objects = 0;
    double bytes = 0;
    std::vector<Change> changes;  // by fine step
  };
  struct Live {
    std::uint32_t group;
    std::uint32_t step;  // the fine time step in which the object was allocated
    double objects;
    double bytes;
  };
  // Fine steps are merged into the steps of the result, so that samples that end early also fill enough steps.
  static constexpr std::size_t kFineSteps = 16 * kSteps;
  std::uint32_t step_of(std::uint64_t time_ns) const;  // kFineSteps: after the last step
  // Identifies allocations by tasks of one name with one cache and stack, like UntracedFrees in analysis/growth/traces.
  using Place = std::tuple<std::string, std::string, std::vector<std::uint64_t>>;  // task, cache, stack
  static Place place_of(const Group& group) { return {group.task, group.cache, group.stack}; }
  // Returns places whose objects are freed on untraced paths, which shows when their addresses are allocated again. The
  // most recently freed objects seem to be live because their addresses have not been reused yet.
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
  std::map<std::string, double> allocations_;  // by cache
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::unordered_map<std::uint64_t, Live> live_;  // by pointer
};

}  // namespace kmt
