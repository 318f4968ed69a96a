// SPDX-License-Identifier: GPL-2.0-or-later
// Gives names to addresses and cgroups of the running kernel, for commands that watch it. Also measures the cost of
// watching.
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
  // Prints a note on stderr if /proc/kallsyms hides addresses.
  LiveKernel();
  LiveKernel(const LiveKernel&) = delete;
  LiveKernel& operator=(const LiveKernel&) = delete;

  // The reference stays valid.
  const Kallsyms& symbols() const { return symbols_; }
  // Reads the symbols again if modules changed. Returns true if they differ.
  bool refresh();
  std::string cgroup_name(std::uint64_t id) { return cgroups_.name(id); }
  static std::string release();

 private:
  std::string kallsyms_;
  std::vector<LoadedModule> modules_;
  Kallsyms symbols_;
  CgroupNames cgroups_;
};

// Returns the CPU time of this process so far, in nanoseconds.
std::uint64_t own_cpu_ns();

}  // namespace kmt
