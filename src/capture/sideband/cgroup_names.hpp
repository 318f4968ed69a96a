// SPDX-License-Identifier: GPL-2.0-or-later
// Paths of cgroups (version 2) by the IDs in BPF programs, which are the inodes of their folders.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

namespace kmt {

class CgroupNames {
 public:
  CgroupNames();

  // "/system.slice/db.service", "/" for the root. "cgroup 1234" if it was gone before the first search, or is outside
  // the mounted tree.
  std::string name(std::uint64_t id);

 private:
  void look(const std::string& folder, const std::string& name, unsigned depth);

  std::string root_;  // mount point of cgroup2; empty: none
  std::unordered_map<std::uint64_t, std::string> names_;
};

}  // namespace kmt
