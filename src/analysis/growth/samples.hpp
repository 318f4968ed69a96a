// SPDX-License-Identifier: GPL-2.0-or-later
// How the allocations that samples stand for live and end over time, by stack and process.
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
  static constexpr std::size_t kSteps =
      64;  // in the result, at most; at least half of them once enough time has passed
  static constexpr std::size_t kMostGroups = 200'000;  // further samples are only counted

  // Follows `seconds` from `begin_ns` (CLOCK_MONOTONIC). Allocations of `own_process` do not count. `page_bytes` is the
  // kernel's page size. The symbols are borrowed.
  SampleGrowth(std::uint64_t mean_bytes, bool pages, const SymbolNames& symbols, std::uint64_t begin_ns, double seconds,
               std::uint32_t own_process, std::uint64_t page_bytes);

  // Restarts the clock: loading the programs may take seconds.
  void begin(std::uint64_t now_ns) { begin_ns_ = now_ns; }
  void add(const HeapSample& sample);
  void end(const HeapSampleEnd& end);
  // Ends live samples that `lives` does not know, for when ends were lost. Their time of end is unknown, so they count
  // as if they had never lived: ending all of them now would leave a rise until now.
  void reconcile(const std::function<bool(std::uint64_t)>& lives);

  // Until `end_ns`; `release` is the kernel's, by which paths without tracepoints are known.
  GrowthSeen seen(std::uint64_t end_ns, const std::string& release,
                  const std::function<std::string(std::uint64_t)>& cgroup_name) const;
  std::uint64_t not_kept() const { return not_kept_; }  // samples
  std::uint64_t samples() const { return samples_; }
  // By cache, freed or not; an estimate.
  const std::map<std::string, double>& allocations() const { return allocations_; }

 private:
  struct Change {
    std::uint32_t step;
    double bytes;
  };
  struct Group {
    std::vector<std::uint64_t> stack;
    std::uint64_t cgroup;
    std::uint32_t process;  // 0: of an interrupt
    std::string task;
    std::string cache;  // as GrowthGroup has it
    bool pages = false;
    std::uint64_t live = 0;
    std::uint64_t freed = 0;
    std::uint64_t replaced = 0;  // their frees were not seen
    double objects = 0;
    double bytes = 0;
    std::vector<Change> changes;  // by fine step
  };
  struct Live {
    std::uint32_t group;
    std::uint32_t step;  // fine, of its allocation
    double objects;
    double bytes;
  };
  // Steps are kept finer than in the result, so that samples that end early have as many steps as others.
  static constexpr std::size_t kFineSteps = 16 * kSteps;
  std::uint32_t step_of(std::uint64_t time_ns) const;  // kFineSteps: after the last
  // Allocations by tasks of one name at one place, like UntracedFrees in analysis/growth/traces.
  using Place = std::tuple<std::string, std::string, std::vector<std::uint64_t>>;  // task, cache, stack
  static Place place_of(const Group& group) { return {group.task, group.cache, group.stack}; }
  // Places whose objects are freed without a visible free: their addresses are allocated again. The objects freed last
  // have no next owner yet, so they seem to live.
  std::set<Place> freed_unseen() const;
  void forget(const Live& object, std::uint32_t step);
  static void change(Group& group, std::uint32_t step, double bytes);

  std::uint64_t mean_bytes_;
  bool pages_;
  const SymbolNames& symbols_;
  std::uint64_t begin_ns_;
  std::uint64_t step_ns_;  // of a fine step
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
