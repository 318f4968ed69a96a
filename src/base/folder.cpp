// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/folder.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include <sys/stat.h>

#include "base/error.hpp"
#include "base/sudo_user.hpp"

namespace kmt {

namespace {

Error cannot_read(std::error_code code, const std::string& path) {
  errno = code.value();
  return system_error("Cannot read the folder", path);
}

}  // namespace

void make_folder(const std::string& path) {
  constexpr unsigned kPrivateFolder = 0700;
  const std::filesystem::path folder(path);
  std::error_code code;
  if (std::filesystem::is_directory(folder, code)) return;
  if (folder.has_parent_path() && folder.parent_path() != folder) make_folder(folder.parent_path());
  if (!folder.has_filename()) return;  // "folder/" has no file name; the call above has made its parent path "folder"
  if (::mkdir(path.c_str(), kPrivateFolder) == 0) return give_files_to_sudo_user(path);
  const int number = errno;
  // another process has made the folder since the check above
  if (number == EEXIST && std::filesystem::is_directory(folder, code)) return;
  errno = number;
  throw system_error("Cannot make the folder", path);
}

std::vector<std::string> all_names_in(const std::string& path) {
  std::vector<std::string> names;
  std::error_code code;
  std::filesystem::directory_iterator entry(path, code);
  for (; !code && entry != std::filesystem::directory_iterator(); entry.increment(code))
    names.push_back(entry->path().filename());
  if (code && code != std::errc::no_such_file_or_directory) throw cannot_read(code, path);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> files_below(const std::string& path) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  std::error_code code;
  fs::recursive_directory_iterator entry(path, code);
  for (; !code && entry != fs::recursive_directory_iterator(); entry.increment(code))
    if (entry->is_regular_file(code)) files.push_back(entry->path());
  if (code) throw cannot_read(code, path);
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace kmt
