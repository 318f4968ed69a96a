// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/code/made_code.hpp"

#include <algorithm>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/outside.hpp"

namespace kmt {

namespace {

constexpr std::string_view kBegin = "/tmp/perf-";
constexpr std::string_view kEnd = ".map";

}  // namespace

std::string made_code_map_path(std::int32_t process) { return fmt::format("{}{}{}", kBegin, process, kEnd); }

bool is_made_code_map(std::string_view path) {
  if (!path.starts_with(kBegin) || !path.ends_with(kEnd) || path.size() <= kBegin.size() + kEnd.size()) return false;
  const std::string_view id = path.substr(kBegin.size(), path.size() - kBegin.size() - kEnd.size());
  return id.find_first_not_of("0123456789") == std::string_view::npos;
}

FileDescriptor open_made_code_map(const std::string& path, std::initializer_list<uid_t> owners) {
  FileDescriptor file =
      outside_runs() ? open_code_outside(path)
                     : FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW));
  struct stat status {};
  if (file && (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink != 1 ||
               std::find(owners.begin(), owners.end(), status.st_uid) == owners.end()))
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
