// SPDX-License-Identifier: GPL-2.0-or-later
// Makes a profile of samples as they come: what was allocated, and what of it lives.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/estimate.hpp"
#include "results/heap_profile.hpp"
#include "trace/symbol_names.hpp"
#include "trace/wrappers.hpp"

namespace kmt {

class HeapProfile {
 public:
  // `cgroup_name` names a cgroup's id. The symbols are borrowed.
  HeapProfile(std::uint64_t mean_bytes, const SymbolNames& symbols,
              std::function<std::string(std::uint64_t)> cgroup_name);
  HeapProfile(const HeapProfile&) = delete;
  HeapProfile& operator=(const HeapProfile&) = delete;

  void add(const HeapSample& sample);
  void end(const HeapSampleEnd& end);
  // Takes out live samples of which `lives` does not know: for when ends were lost.
  void reconcile(const std::function<bool(std::uint64_t)>& lives);

  // What was sampled since the last call of begin_interval(), and what lives of all that ever was. Fills figures, rows
  // and stacks; the rest is the caller's.
  HeapProfileResult result(const std::vector<HeapKey>& by) const;
  void begin_interval();

 private:
  // The finest group.
  struct Group {
    std::vector<std::uint64_t> stack;
    std::uint64_t call_site;  // of pages, which do not tell, the caller
    std::uint64_t caller;     // the first function that is no allocator
    std::string cache;
    std::string task;
    std::uint32_t process;
    std::uint64_t cgroup;
    bool pages;
    std::uint64_t samples = 0;
    Estimator objects;
    Estimator bytes;
    Estimator requested;
  };
  struct Live {
    std::uint32_t group;
    std::uint64_t bytes;
  };
  // What is estimated of one row, before it becomes figures.
  struct Sums;

  std::uint32_t group_of(const HeapSample& sample, std::string key);
  std::string key_text(HeapKey key, const Group& group) const;

  std::uint64_t mean_bytes_;
  const SymbolNames& symbols_;
  WrapperList wrappers_ = WrapperList::built_in();
  CallerFinder callers_;
  std::function<std::string(std::uint64_t)> cgroup_name_;
  std::vector<Group> groups_;
  std::unordered_map<std::string, std::uint32_t> group_ids_;  // by the bytes of all that tells groups apart
  std::unordered_map<std::uint64_t, Live> live_;              // by pointer
  std::uint64_t replaced_ = 0;
};

}  // namespace kmt
