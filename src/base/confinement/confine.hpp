// SPDX-License-Identifier: GPL-2.0-or-later
// Removes rights that a process does not need for reading a trace. A hostile trace that exploits a mistake in a reader
// can then do little harm. Uses Landlock (Linux 5.13, Documentation/userspace-api/landlock.rst) and seccomp, which need
// no privileges and also restrict root.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kmt {

enum class Network : std::uint8_t { none, as_before };

// The access to files that remains permitted. Files that are open already are not affected. Paths that do not exist are
// ignored.
struct Access {
  std::vector<std::string> read;             // files, and folders with all their contents
  std::vector<std::string> listed;           // folders that may be listed; files in them cannot be read
  std::vector<std::string> written_files;    // files that may be read and written
  std::vector<std::string> written_folders;  // folders in which everything may be read, created, written and removed
};

// Restricts this thread, threads that it starts later, and their children. They lose all other access to files,
// including contents, mode, owner and attributes. They cannot start programs. Since Linux 6.7, they cannot open TCP
// connections unless `network` permits it. Files that are open already are not affected. The restriction is permanent.
// Returns false if the kernel has no Landlock. In this case, the process can still read and write files and start
// programs. Throws Error if the kernel refuses the restriction.
bool confine(const Access& access, Network network);

}  // namespace kmt
