// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/confinement/code_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/endian.hpp"

namespace kmt {

namespace {

// Finds the file without opening it (O_PATH), because opening a device may have side effects.
FileDescriptor find(const std::string& path, const std::string& root, bool follow) {
  const int flags = O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW);
  if (root.empty()) return FileDescriptor(::open(path.c_str(), flags));
  const FileDescriptor folder(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return {};
  open_how how{};
  how.flags = static_cast<unsigned>(flags);
  how.resolve = RESOLVE_IN_ROOT;
  return FileDescriptor(static_cast<int>(::syscall(SYS_openat2, folder.get(), path.c_str(), &how, sizeof how)));
}

// Accepts programs, libraries and object files. Refuses core dumps: they are ELF files too, but contain a program's
// memory.
bool has_code(int fd) {
  std::array<std::uint8_t, EI_NIDENT + sizeof(Elf64_Half)> start{};
  if (::pread(fd, start.data(), start.size(), 0) != static_cast<ssize_t>(start.size())) return false;
  if (std::memcmp(start.data(), ELFMAG, SELFMAG) != 0) return false;
  const ByteOrder order = start[EI_DATA] == ELFDATA2MSB ? ByteOrder::big : ByteOrder::little;
  const auto type = load<std::uint16_t>(start.data() + EI_NIDENT, order);
  return type == ET_EXEC || type == ET_DYN || type == ET_REL;
}

}  // namespace

bool is_made_code_map(std::string_view path) {
  constexpr std::string_view kBegin = "/tmp/perf-", kEnd = ".map";
  if (!path.starts_with(kBegin) || !path.ends_with(kEnd) || path.size() <= kBegin.size() + kEnd.size()) return false;
  const std::string_view id = path.substr(kBegin.size(), path.size() - kBegin.size() - kEnd.size());
  return id.find_first_not_of("0123456789") == std::string_view::npos;
}

FileDescriptor open_code_file(const std::string& path, const std::string& root) {
  const bool is_map = is_made_code_map(path);
  const FileDescriptor found = find(path, root, !is_map);
  struct stat status {};
  if (!found || ::fstat(found.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  if (is_map && status.st_nlink != 1) return {};
  FileDescriptor file(::open(fmt::format("/proc/self/fd/{}", found.get()).c_str(), O_RDONLY | O_CLOEXEC));
  if (file && !is_map && !has_code(file.get())) file.reset();
  return file;
}

}  // namespace kmt
