// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/folder.hpp"

#include <cerrno>
#include <filesystem>
#include <memory>

#include <dirent.h>
#include <sys/stat.h>

#include "base/error.hpp"
#include "base/file.hpp"

namespace kmt {

void make_folder(const std::string& path) {
  constexpr unsigned kPrivateFolder = 0700;
  const std::filesystem::path folder(path);
  std::error_code code;
  if (std::filesystem::is_directory(folder, code)) return;
  if (folder.has_parent_path() && folder.parent_path() != folder) make_folder(folder.parent_path());
  const bool was_made = !folder.has_filename();  // of "folder/" it was the one above
  if (was_made || ::mkdir(path.c_str(), kPrivateFolder) == 0) return;
  const int number = errno;
  if (number == EEXIST && std::filesystem::is_directory(folder, code)) return;  // somebody else has, meanwhile
  errno = number;
  throw system_error("Cannot make the folder", path);
}

std::vector<std::string> all_names_in(const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> opened(::opendir(path.c_str()), &::closedir);
  if (!opened && errno != ENOENT) throw system_error("Cannot read the folder", path);
  return names_in(path);
}

}  // namespace kmt
