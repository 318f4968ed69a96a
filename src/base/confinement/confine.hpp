// SPDX-License-Identifier: GPL-2.0-or-later
// Takes from this process what reading a trace does not need, so that a hostile one that finds a mistake in a reader
// can do little with it. By Landlock (Linux 5.13, Documentation/userspace-api/landlock.rst) and seccomp, which need no
// privilege and bind root too.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kmt {

enum class Network : std::uint8_t { none, as_before };

// The remaining access to files that are not open. Paths that do not exist are ignored.
struct Access {
  std::vector<std::string> read;             // files, and folders with all in them
  std::vector<std::string> listed;           // folders: the names in them
  std::vector<std::string> written_files;    // read, too
  std::vector<std::string> written_folders;  // all in them is read, made, written and removed
};

// From now on this thread, those it starts and their children have no other access to files: none to their content,
// mode, owner or attributes. They can start no program, and from Linux 6.7 on open no TCP connection unless `network`
// leaves them. Opened files stay as they are. Once it is done it cannot be undone. False where the kernel has no
// Landlock: then it may read and write files as before, and start programs. Throws Error where the kernel refuses.
bool confine(const Access& access, Network network);

}  // namespace kmt
