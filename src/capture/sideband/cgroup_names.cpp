// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/sideband/cgroup_names.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/file.hpp"
#include "base/proc_text.hpp"

namespace kmt {

namespace {

constexpr unsigned kDeepest = 32;  // maximum depth of nested cgroup folders

}  // namespace

CgroupNames::CgroupNames() {
  for (const Mount& mount : own_mounts())
    if (mount.type == "cgroup2" && root_.empty()) root_ = mount.place;
  if (!root_.empty()) look(root_, "/", 0);
}

void CgroupNames::look(const std::string& folder, const std::string& name, unsigned depth) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return;
  names_.insert_or_assign(status.st_ino, name);
  if (depth == kDeepest) return;
  for (const std::string& below : names_in(folder))
    look(fmt::format("{}/{}", folder, below), fmt::format("{}/{}", name == "/" ? "" : name, below), depth + 1);
}

std::string CgroupNames::name(std::uint64_t id) {
  const auto known = names_.find(id);
  if (known != names_.end()) return known->second;
  if (!root_.empty()) look(root_, "/", 0);
  // A cgroup without a folder is searched for only once, because its ID is never used again.
  return names_.try_emplace(id, fmt::format("cgroup {}", id)).first->second;
}

}  // namespace kmt
