// SPDX-License-Identifier: GPL-2.0-or-later
// Owned file descriptors, small files that are read as a whole, and files that are mapped for reading.
#pragma once

#include <optional>
#include <span>
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

// Raises the soft limit of open descriptors (usually 1024) to the hard limit.
void raise_descriptor_limit();
// Closes all descriptors with this number or a higher one.
void close_descriptors_from(int first);
// Mode of new files. Output made from a trace may contain kernel addresses, so only its owner may read it.
constexpr unsigned kPrivateFile = 0600;

// Opens a file, as open(2) with O_CLOEXEC does. A new file is private. Throws Error.
FileDescriptor open_file(const std::string& path, int flags);
// Creates an unnamed file in that directory, for reading and writing. The file disappears with its last descriptor,
// even if the process is killed. Throws Error.
FileDescriptor unnamed_file(const std::string& directory);
// Reads the next bytes into `part`. Returns the number of bytes; 0 at the end. Throws an Error that names `path`.
std::size_t read_some(int fd, std::span<char> part, const std::string& path);
// Reads a whole file. Works for procfs and tracefs, where the size is not known in advance. Throws Error.
std::string read_file(const std::string& path);
// Reads a whole file; returns nothing if it cannot be read.
std::optional<std::string> try_read_file(const std::string& path);
// Returns the names in a directory, sorted. Returns no names if the directory cannot be read, or if it disappears
// meanwhile (as in /proc).
std::vector<std::string> names_in(const std::string& directory);
// Writes the text with a single write(2), as the kernel's control files require. Throws Error.
void write_file(const std::string& path, std::string_view text);
// Writes all of the text to a descriptor. Throws Error that names `path`.
void write_all(int fd, std::string_view text, const std::string& path);

// Maps a regular file read-only while the object exists. Other files, such as pipes, are read into memory.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  // Holds contents that were made from the file `path`, instead of mapping the file.
  MappedFile(std::string path, std::string contents);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  Bytes bytes() const { return bytes_; }
  // Releases the memory of a part that has been read. Reading the part again is possible, but slower.
  void let_go(Bytes part) const;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::string copy_;  // contents of a file that cannot be mapped
  Bytes bytes_;
};

// A part of a mapped file that is read once from front to back. Pages that were read are released from time to time,
// because they would otherwise count as the program's memory.
class ReadOnce {
 public:
  // `file` must outlive this object. If `file` is null, the bytes are not from a mapped file, and no pages are
  // released.
  ReadOnce(const MappedFile* file, Bytes part) : file_(file), part_(part) {}
  void read_until(std::uint64_t offset);  // `offset` is in bytes from the start of the part

 private:
  const MappedFile* file_;
  Bytes part_;
  std::uint64_t let_go_ = 0;
};

}  // namespace kmt
