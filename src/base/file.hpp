// SPDX-License-Identifier: GPL-2.0-or-later
// Owned file descriptors, whole small files, and files mapped for reading.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_reader.hpp"

namespace kmt {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset();

 private:
  int fd_ = -1;
};

// Allows this process as many descriptors as it may have: the usual soft limit is 1024.
void raise_descriptor_limit();
// Closes all descriptors of this number and above.
void close_descriptors_from(int first);
// Output made from a trace reveals addresses of the kernel, so only its owner may read it.
constexpr unsigned kPrivateFile = 0600;

// open(2) with O_CLOEXEC; a file that it makes is private. Throws Error.
FileDescriptor open_file(const std::string& path, int flags);
// A file without a name in that directory, for reading and writing: it is gone with its last descriptor, whatever ends
// the process. Throws Error.
FileDescriptor unnamed_file(const std::string& directory);
// All of a file of procfs or tracefs, whose size is not known beforehand; throws Error.
std::string read_file(const std::string& path);
// The same, empty optional when it cannot be read.
std::optional<std::string> try_read_file(const std::string& path);
// The names in a directory, sorted; none when it cannot be read or goes away meanwhile, as those of /proc do.
std::vector<std::string> names_in(const std::string& directory);
// One write(2) of the text, as control files of the kernel want it; throws Error.
void write_file(const std::string& path, std::string_view text);
// All of the text to a descriptor; throws Error naming `path`.
void write_all(int fd, std::string_view text, const std::string& path);

// A regular file mapped read-only for as long as the object lives; anything else (a pipe) is read into memory.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  Bytes bytes() const { return bytes_; }
  // Takes a part that has been read out of this process' memory. It can be read again, only more slowly.
  void let_go(Bytes part) const;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::string copy_;  // of what cannot be mapped
  Bytes bytes_;
};

// A part of a mapped file that is read once, from front to back. Pages that were read are released now and then, else
// all of them would count as the program's memory.
class ReadOnce {
 public:
  // The file, which is borrowed, may be null: then the part is not its own.
  ReadOnce(const MappedFile* file, Bytes part) : file_(file), part_(part) {}
  void read_until(std::uint64_t offset);  // in the part

 private:
  const MappedFile* file_;
  Bytes part_;
  std::uint64_t let_go_ = 0;
};

}  // namespace kmt
