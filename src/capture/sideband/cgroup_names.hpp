// SPDX-License-Identifier: GPL-2.0-or-later
// Finds paths of cgroups (version 2). BPF programs report the IDs of cgroups, which are the inode numbers of their
// folders.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

namespace kmt {

class CgroupNames {
 public:
  CgroupNames();

  // Returns a path such as "/system.slice/db.service", or "/" for the root. Returns "cgroup 1234" if the cgroup was
  // removed before the first search or is outside the mounted tree.
  std::string name(std::uint64_t id);

 private:
  void look(const std::string& folder, const std::string& name, unsigned depth);

  std::string root_;  // mount point of cgroup2; empty if it is not mounted
  std::unordered_map<std::uint64_t, std::string> names_;
};

}  // namespace kmt
