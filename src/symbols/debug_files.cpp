// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/debug_files.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/build_id.hpp"

namespace kmt {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> roots(const std::string& directory) { return {directory, directory + "/usr/lib/debug"}; }

bool is_file(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

// True if the release is a plain name. The release is from the trace, which is untrusted, so it might contain a path to
// another folder.
bool is_name(const std::string& release) {
  return !release.empty() && release.front() != '.' && release.find('/') == std::string::npos;
}

}  // namespace

std::vector<std::string> files_of_build_id(const std::string& directory, std::string_view build_id) {
  std::vector<std::string> paths;
  if (!is_build_id(build_id) || build_id.size() < 4) return paths;
  for (const std::string& root : roots(directory)) {
    std::string path = fmt::format("{}/.build-id/{}/{}.debug", root, build_id.substr(0, 2), build_id.substr(2));
    if (is_file(path)) paths.push_back(std::move(path));
  }
  return paths;
}

std::vector<std::string> kernel_files(const std::string& directory, const std::string& release) {
  std::vector<std::string> names = {"vmlinux"};
  if (is_name(release))
    names = {"vmlinux-" + release, "boot/vmlinux-" + release, fmt::format("lib/modules/{}/vmlinux", release),
             fmt::format("usr/lib/modules/{}/vmlinux", release), "vmlinux"};
  std::vector<std::string> paths;
  for (const std::string& root : roots(directory))
    for (const std::string& name : names)
      if (std::string path = fmt::format("{}/{}", root, name); is_file(path)) paths.push_back(std::move(path));
  return paths;
}

std::multimap<std::string, std::string> module_files(const std::string& directory, const std::string& release) {
  std::multimap<std::string, std::string> files;
  if (!is_name(release)) return files;
  for (const std::string& root : roots(directory)) {
    for (const char* place : {"lib/modules", "usr/lib/modules"}) {
      std::error_code error;
      fs::recursive_directory_iterator entry(fmt::format("{}/{}/{}", root, place, release),
                                             fs::directory_options::skip_permission_denied, error);
      for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
        std::string name = entry->path().filename().string();
        if (name.ends_with(".debug")) name.resize(name.size() - std::string_view(".debug").size());
        if (!name.ends_with(".ko") || !is_file(entry->path().string())) continue;
        name.resize(name.size() - std::string_view(".ko").size());
        std::replace(name.begin(), name.end(), '-', '_');
        files.emplace(std::move(name), entry->path().string());
      }
    }
  }
  return files;
}

}  // namespace kmt
