// SPDX-License-Identifier: GPL-2.0-or-later
// Paths of cgroups (version 2) by the ids that the kernel gives to BPF programs, which are the inodes of their folders.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

namespace kmt {

class CgroupNames {
 public:
  CgroupNames();

  // "/system.slice/db.service", "/" for the root. A cgroup that is gone and was never looked for, or that has no place
  // in the mounted tree, is "cgroup 1234".
  std::string name(std::uint64_t id);

 private:
  void look(const std::string& folder, const std::string& name, unsigned depth);

  std::string root_;  // where cgroup2 is mounted; empty: nowhere
  std::unordered_map<std::uint64_t, std::string> names_;
};

}  // namespace kmt
