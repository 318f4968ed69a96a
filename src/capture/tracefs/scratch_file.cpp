// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/tracefs/scratch_file.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.hpp"

namespace kmt {

FileDescriptor open_scratch_file(const std::string& directory) {
  const int fd = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0) return FileDescriptor(fd);
  // Not every file system has nameless files.
  std::string path = directory + "/.kmemtrace-XXXXXX";
  FileDescriptor named(::mkostemp(path.data(), O_CLOEXEC));
  if (!named) throw system_error("Cannot create a file", directory);
  ::unlink(path.c_str());
  return named;
}

}  // namespace kmt
