// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the names of addresses and cgroups of the running kernel, for commands that watch the kernel. Also measures the
// CPU time of these commands.
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
  // Prints a note on stderr if /proc/kallsyms shows no addresses.
  LiveKernel();
  LiveKernel(const LiveKernel&) = delete;
  LiveKernel& operator=(const LiveKernel&) = delete;

  // Returns the kernel's symbols. The reference stays valid as long as this object exists.
  const Kallsyms& symbols() const { return symbols_; }
  // Reads the symbols again if modules were loaded or unloaded. Returns true if the symbols changed.
  bool refresh();
  std::string cgroup_name(std::uint64_t id) { return cgroups_.name(id); }
  static std::string release();

 private:
  std::string kallsyms_;
  std::vector<LoadedModule> modules_;
  Kallsyms symbols_;
  CgroupNames cgroups_;
};

// Returns the CPU time in nanoseconds that this process has used so far.
std::uint64_t own_cpu_ns();

}  // namespace kmt
