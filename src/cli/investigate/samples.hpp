// SPDX-License-Identifier: GPL-2.0-or-later
// Takes the samples of an investigation in the kernel. Each sampled object is followed until it is freed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/growth/samples.hpp"
#include "analysis/heap/profile.hpp"
#include "capture/bpf/watch/heap.hpp"
#include "cli/support/live_kernel.hpp"
#include "cli/watch/profile_files.hpp"
#include "results/growth/investigation.hpp"
#include "views/common/unseen_sources.hpp"

namespace kmt {

// Returns the memory cgroups of those processes in `seen` that still run. Returns nothing if the memory cgroup of this
// process is unknown.
std::optional<MemoryCgroups> memory_cgroups_of(const GrowthSeen& seen);

class InvestigationSamples {
 public:
  // Takes one sample per `mean_bytes` of slab objects for `seconds`. If `pages` is true, also takes samples of kernel
  // pages. Throws Error if the BPF programs cannot be loaded.
  InvestigationSamples(std::uint64_t mean_bytes, bool pages, LiveKernel& kernel, double seconds);

  void drain() { watcher_.drain(); }
  std::uint64_t samples() const { return growth_.samples(); }
  ProgramRuns runs(std::string_view event = {}) const { return watcher_.runs(event); }  // see HeapWatcher::runs
  const SampleGrowth& growth() const { return growth_; }
  std::vector<UnseenSource> unseen() const { return unseen_of(watcher_.losses(), growth_.not_kept()); }
  std::uint64_t begin_ns() const { return begin_ns_; }
  std::uint64_t kernel_bytes() const { return watcher_.memory(); }
  std::uint64_t ring_bytes() const { return watcher_.ring_bytes(); }  // part of kernel_bytes()
  GrowthSeen seen();
  HeapProfileForms forms();  // returns the samples in the forms that a profile file can store

 private:
  std::uint64_t mean_bytes_;
  bool pages_;
  std::uint64_t begin_ns_;
  std::uint64_t begin_unix_ns_;
  SampleGrowth growth_;
  HeapProfile profile_;
  LiveKernel& kernel_;
  HeapWatcher watcher_;
};

}  // namespace kmt
