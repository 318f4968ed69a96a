// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/code/made_code.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/confinement/outside.hpp"

namespace kmt {

std::string made_code_map_path(std::int32_t process) { return fmt::format("/tmp/perf-{}.map", process); }

FileDescriptor open_made_code_map(const std::string& path, std::initializer_list<uid_t> owners) {
  FileDescriptor file = open_code(path);
  struct stat status {};
  if (file &&
      (::fstat(file.get(), &status) != 0 || std::find(owners.begin(), owners.end(), status.st_uid) == owners.end()))
    file.reset();
  return file;
}

std::string read_made_code_map(const FileDescriptor& file) {
  constexpr std::size_t kMostBytes = 16 << 20;
  std::string text;
  char buffer[65536];
  for (ssize_t bytes = 0; text.size() < kMostBytes && (bytes = ::read(file.get(), buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(bytes));
  return text;
}

}  // namespace kmt
