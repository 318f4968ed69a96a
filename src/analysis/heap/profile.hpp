// SPDX-License-Identifier: GPL-2.0-or-later
// Builds a profile from incoming samples: how much was allocated and how much is still live.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/series/estimate.hpp"
#include "results/heap/profile.hpp"
#include "trace/code/code_owner.hpp"
#include "trace/code/symbol_names.hpp"
#include "trace/code/wrappers.hpp"

namespace kmt {

class HeapProfile {
 public:
  // Maximum number of groups without live objects. Groups with live objects are always kept. If this number is exceeded
  // because many processes start and end, groups without live objects are merged across processes. If that is not
  // enough, they are all merged into one group.
  static constexpr std::size_t kMostEndedGroups = 4096;

  // `cgroup_name` returns the name of a cgroup ID. `symbols` must outlive the profile.
  HeapProfile(std::uint64_t mean_bytes, const SymbolNames& symbols,
              std::function<std::string(std::uint64_t)> cgroup_name);
  HeapProfile(const HeapProfile&) = delete;
  HeapProfile& operator=(const HeapProfile&) = delete;

  void add(const HeapSample& sample);
  // Adds a group from a profile file.
  void add(DrawnGroup&& drawn);
  void end(const HeapSampleEnd& end);
  // Removes live samples for which `lives` returns false. Call this if events of frees were lost.
  void reconcile(const std::function<bool(std::uint64_t)>& lives);

  // Returns the samples since the last begin_interval() and all live samples. Fills in the members `figures` and
  // `rows`; the caller fills in the others.
  HeapProfileResult result(const std::vector<HeapKey>& by) const;
  // Returns the samples of result() as the most detailed rows, sorted by live bytes, then by allocated bytes.
  std::vector<HeapStackRow> stacks() const;
  // Returns the samples of result() in the form of a profile file, with the names of cgroups. The caller adds the facts
  // about the machine.
  DrawnProfile drawn() const;
  void begin_interval();
  // Sets the name of a process. Has no effect if a sample in the current naming interval has set the name, because the
  // name in the sample is newer.
  void name_process(std::uint32_t process, std::string_view comm);
  void begin_naming_interval();
  // Returns "bash-812" with the current name of the process. `comm` is used if the current name is unknown.
  std::string process_name(AllocationContext context, std::string_view comm, std::uint32_t process) const;
  // Returns the module, subsystem or directory of the code that has this name and source, or "unknown".
  std::string owner_text(HeapKey key, std::string_view name, std::span<const SourceFrame> source = {}) const;
  // Looks up the callers and directories again. Call this function after the symbols have changed.
  void names_changed();

 private:
  // A group of samples with equal properties.
  struct Group {
    DrawnGroup drawn;
    std::uint64_t call_site;  // call site; for pages, which have none, the same as `caller`
    std::uint64_t caller;     // first function outside the allocators
    bool slab_pages = false;  // true for pages of slabs, as in HeapRow
    bool user_pages = false;
    std::string cache;
    std::string task;
  };
  struct Live {
    std::uint32_t group;
    std::uint32_t size;  // index into the group's `sizes`
  };
  // The newest known name of a process. Names change, for example with exec.
  struct ProcessName {
    std::string comm;
    bool sampled = false;  // true if a sample in the current naming interval has the name
  };
  // Sums of estimates for one row. The numbers shown in the row are computed from these sums.
  struct Sums;

  Group make_group(DrawnGroup drawn);
  void find_caller(Group& group);
  ProcessName& name_of(std::uint32_t process);
  void name_sampled(AllocationContext context, std::uint32_t process, std::string_view comm);
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
  SourceDirectories directories_;
  std::function<std::string(std::uint64_t)> cgroup_name_;
  std::vector<Group> groups_;
  std::size_t groups_to_fold_ = 2 * kMostEndedGroups;
  std::unordered_map<std::string, std::uint32_t> group_ids_;  // key: the result of identity_of() for the sample
  std::unordered_map<std::uint64_t, Live> live_;              // key: pointer
  std::unordered_map<std::uint32_t, ProcessName> process_names_;
  std::uint64_t replaced_ = 0;
};

}  // namespace kmt
