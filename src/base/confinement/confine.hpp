// SPDX-License-Identifier: GPL-2.0-or-later
// Removes rights from this process that are not needed to read a trace. A hostile trace that exploits a mistake in a
// reader can then do little harm. Uses Landlock (Linux 5.13, Documentation/userspace-api/landlock.rst) and seccomp,
// which need no privileges and also restrict root.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kmt {

enum class Network : std::uint8_t { none, as_before };

// The access that remains to files that are not open yet. Paths that do not exist are ignored.
struct Access {
  std::vector<std::string> read;             // files, and folders with all their contents
  std::vector<std::string> listed;           // folders whose names of files may be listed
  std::vector<std::string> written_files;    // read, too
  std::vector<std::string> written_folders;  // folders in which everything may be read, created, written and removed
};

// Applies to this thread, to threads that it starts later, and to their children. They lose all other access to files,
// including contents, mode, owner and attributes. They cannot start programs. Since Linux 6.7, they cannot open TCP
// connections unless `network` permits it. Files that are open already are not affected. This cannot be undone. False
// if the kernel has no Landlock; then reading and writing files and starting programs remain possible. Throws Error if
// the kernel refuses.
bool confine(const Access& access, Network network);

}  // namespace kmt
