// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arithmetic/size.hpp"
#include "base/error.hpp"
#include "base/number.hpp"

namespace kmt {

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

void FileDescriptor::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

void close_descriptors_from(int first) {
  // close_range(2) exists since Linux 5.9, and a sandbox may forbid it.
  if (::syscall(SYS_close_range, first, ~0u, 0) == 0) return;
  for (const std::string& name : names_in("/proc/self/fd"))
    if (const auto number = parse_number<int>(name); number && *number >= first) ::close(*number);
}

FileDescriptor open_file(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC, kPrivateFile);
  if (fd < 0) throw system_error("Cannot open", path);
  return FileDescriptor(fd);
}

FileDescriptor unnamed_file(const std::string& directory) {
  const int fd = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kPrivateFile);
  if (fd >= 0) return FileDescriptor(fd);
  std::string name = directory + "/.kmemtrace-XXXXXX";  // some file systems do not support unnamed files
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named < 0) throw system_error("Cannot make a temporary file", directory);
  ::unlink(name.c_str());
  return FileDescriptor(named);
}

std::size_t read_some(int fd, std::span<char> part, const std::string& path) {
  for (;;) {
    const ssize_t count = ::read(fd, part.data(), part.size());
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) throw system_error("Cannot read", path);
  }
}

namespace {

std::string read_to_end(int fd, const std::string& path) {
  // The size of procfs files is unknown, so a large file reserves 32 MiB at once. Memory that is not written costs
  // nothing, but a larger copy of a large text does.
  constexpr std::size_t kLargeText = 1 << 20;
  constexpr std::size_t kRoomForLargeText = 32 << 20;
  std::string text;
  std::array<char, 1 << 14> part;
  while (const std::size_t count = read_some(fd, part, path)) {
    if (text.size() > kLargeText && text.capacity() < kRoomForLargeText) text.reserve(kRoomForLargeText);
    text.append(part.data(), count);
  }
  if (text.size() < kLargeText) text.shrink_to_fit();
  return text;
}

}  // namespace

std::string read_file(const std::string& path) { return read_to_end(open_file(path, O_RDONLY).get(), path); }

std::optional<std::string> try_read_file(const std::string& path) {
  try {
    return read_file(path);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code code;
  std::filesystem::directory_iterator entry(directory, code);
  for (; !code && entry != std::filesystem::directory_iterator(); entry.increment(code))
    names.push_back(entry->path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

void write_file(const std::string& path, std::string_view text) {
  const FileDescriptor fd = open_file(path, O_WRONLY | O_TRUNC);
  ssize_t written = 0;
  do {
    written = ::write(fd.get(), text.data(), text.size());
  } while (written < 0 && errno == EINTR);
  if (written < 0) throw system_error("Cannot write \"" + std::string(text) + "\"", path);
}

void write_all(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw system_error("Cannot write", path);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

MappedFile::MappedFile(const std::string& path) : path_(path) {
  const FileDescriptor fd = open_file(path, O_RDONLY);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) throw system_error("Cannot stat", path);
  if (S_ISREG(status.st_mode) && status.st_size > 0) {
    const auto size = static_cast<std::size_t>(status.st_size);
    void* const start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
    if (start == MAP_FAILED) throw system_error("Cannot map", path);
    bytes_ = {static_cast<const std::uint8_t*>(start), size};
    return;
  }
  if (!S_ISREG(status.st_mode)) copy_ = read_to_end(fd.get(), path);
  bytes_ = {reinterpret_cast<const std::uint8_t*>(copy_.data()), copy_.size()};
}

MappedFile::MappedFile(std::string path, std::string contents)
    : path_(std::move(path)),
      copy_(std::move(contents)),
      bytes_{reinterpret_cast<const std::uint8_t*>(copy_.data()), copy_.size()} {}

MappedFile::~MappedFile() {
  if (bytes_.data() != reinterpret_cast<const std::uint8_t*>(copy_.data()))
    ::munmap(const_cast<std::uint8_t*>(bytes_.data()), bytes_.size());
}

void MappedFile::let_go(Bytes part) const {
  if (!copy_.empty()) return;
  // Release only pages that are completely in the part, because its first and last page may contain other data.
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t skipped = (page - reinterpret_cast<std::uintptr_t>(part.data()) % page) % page;
  if (part.size() < skipped + page) return;
  const std::size_t length = (part.size() - skipped) / page * page;
  ::madvise(const_cast<std::uint8_t*>(part.data()) + skipped, length, MADV_DONTNEED);
}

void ReadOnce::read_until(std::uint64_t offset) {
  constexpr std::uint64_t kAtOnce = 512u << 10;
  if (file_ == nullptr || offset - let_go_ < kAtOnce) return;
  file_->let_go(part_.subspan(to_size(let_go_), to_size(offset - let_go_)));
  let_go_ = offset;
}

}  // namespace kmt
