// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/code_file.hpp"

#include <array>
#include <cstring>

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kmt {

namespace {

bool is_elf(int fd) {
  std::array<char, SELFMAG> magic{};
  return ::pread(fd, magic.data(), magic.size(), 0) == SELFMAG && std::memcmp(magic.data(), ELFMAG, SELFMAG) == 0;
}

}  // namespace

const int kOpenCode = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

bool is_made_code_map(std::string_view path) {
  constexpr std::string_view kBegin = "/tmp/perf-", kEnd = ".map";
  if (!path.starts_with(kBegin) || !path.ends_with(kEnd) || path.size() <= kBegin.size() + kEnd.size()) return false;
  const std::string_view id = path.substr(kBegin.size(), path.size() - kBegin.size() - kEnd.size());
  return id.find_first_not_of("0123456789") == std::string_view::npos;
}

FileDescriptor only_regular(int fd) {
  FileDescriptor file(fd);
  struct stat status {};
  if (file && (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))) file.reset();
  return file;
}

FileDescriptor open_code_file(const std::string& path) {
  const bool is_map = is_made_code_map(path);
  FileDescriptor file = only_regular(::open(path.c_str(), kOpenCode | (is_map ? O_NOFOLLOW : 0)));
  if (file && !is_map && !is_elf(file.get())) file.reset();
  return file;
}

}  // namespace kmt
