// SPDX-License-Identifier: GPL-2.0-or-later
// Names of the running kernel's addresses and cgroups, for commands that watch it; and the cost of watching.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/proc_text.hpp"
#include "capture/sideband/cgroup_names.hpp"
#include "symbols/kallsyms.hpp"

namespace kmt {

class LiveKernel {
 public:
  // Notes on stderr if /proc/kallsyms hides addresses.
  LiveKernel();
  LiveKernel(const LiveKernel&) = delete;
  LiveKernel& operator=(const LiveKernel&) = delete;

  // Stays the same object.
  const Kallsyms& symbols() const { return symbols_; }
  // Reads them again if modules changed; true if they differ.
  bool refresh();
  std::string cgroup_name(std::uint64_t id) { return cgroups_.name(id); }
  static std::string release();

 private:
  std::string kallsyms_;
  std::vector<LoadedModule> modules_;
  Kallsyms symbols_;
  CgroupNames cgroups_;
};

// CPU time of this process so far, in nanoseconds.
std::uint64_t own_cpu_ns();

}  // namespace kmt
