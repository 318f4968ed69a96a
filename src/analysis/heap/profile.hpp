// SPDX-License-Identifier: GPL-2.0-or-later
// Makes a profile of samples as they come: what was allocated, and what of it lives.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/series/estimate.hpp"
#include "results/heap/profile.hpp"
#include "trace/code/symbol_names.hpp"
#include "trace/code/wrappers.hpp"

namespace kmt {

class HeapProfile {
 public:
  // Kept of what does not live any more, beside the groups of what lives. Processes come and go: where there are more
  // groups, those of ended objects become one for all processes, or, when they are still too many, for all objects.
  static constexpr std::size_t kMostEndedGroups = 4096;

  // `cgroup_name` names a cgroup's id. The symbols are borrowed.
  HeapProfile(std::uint64_t mean_bytes, const SymbolNames& symbols,
              std::function<std::string(std::uint64_t)> cgroup_name);
  HeapProfile(const HeapProfile&) = delete;
  HeapProfile& operator=(const HeapProfile&) = delete;

  void add(const HeapSample& sample);
  // Adds a group of a profile from a file.
  void add(DrawnGroup&& drawn);
  void end(const HeapSampleEnd& end);
  // Removes live samples that `lives` does not know, for when ends were lost.
  void reconcile(const std::function<bool(std::uint64_t)>& lives);

  // Returns what was sampled since the last call of begin_interval(), and all that still lives. Fills figures and rows;
  // the caller fills the rest.
  HeapProfileResult result(const std::vector<HeapKey>& by) const;
  // The same in its finest rows, by live bytes, then by bytes.
  std::vector<HeapStackRow> stacks() const;
  // The same to keep; the names of cgroups are among it, the facts are the caller's.
  DrawnProfile drawn() const;
  void begin_interval();
  // The symbols are others now.
  void names_changed();

 private:
  // The finest group.
  struct Group {
    DrawnGroup drawn;
    std::uint64_t call_site;  // of pages, which do not tell, the caller
    std::uint64_t caller;     // the first function that is no allocator
    std::string cache;
    std::string task;
  };
  struct Live {
    std::uint32_t group;
    std::uint32_t size;  // index into the group's sizes
  };
  // Estimates of one row, before they become figures.
  struct Sums;

  Group make_group(DrawnGroup drawn);
  void find_caller(Group& group);
  std::uint32_t group_of(const HeapSample& sample);
  void keep_live_groups(const std::function<void(DrawnGroup&&)>& take_other);
  void fold_ended_groups();
  DrawnSize& size_of(Live object) { return groups_[object.group].drawn.sizes[object.size]; }
  std::string cgroup_text(const DrawnGroup& group) const;
  std::string key_text(HeapKey key, const Group& group) const;

  std::uint64_t mean_bytes_;
  const SymbolNames& symbols_;
  WrapperList wrappers_ = WrapperList::built_in();
  CallerFinder callers_;
  std::function<std::string(std::uint64_t)> cgroup_name_;
  std::vector<Group> groups_;
  std::size_t groups_to_fold_ = 2 * kMostEndedGroups;
  std::unordered_map<std::string, std::uint32_t> group_ids_;  // by the bytes of all that tells groups apart
  std::unordered_map<std::uint64_t, Live> live_;              // by pointer
  std::uint64_t replaced_ = 0;
};

}  // namespace kmt
