// SPDX-License-Identifier: GPL-2.0-or-later
// Takes from this process what reading a trace does not need, so that a hostile one that finds a mistake in a reader
// can do little with it. By Landlock (Linux 5.13, Documentation/userspace-api/landlock.rst), which needs no privilege
// and binds root too.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace kmt {

enum class Network : std::uint8_t { none, as_before };

// From now on this thread, those it starts and their children can write, make and remove files only in the folders of
// `outputs`, which may not be there yet, and in that of temporary files; they can start no program, and from Linux 6.7
// on open no TCP connection unless `network` leaves them. Files may still be read. Opened files stay as they are. Once
// it is done it cannot be undone. False where the kernel has no Landlock: nothing is changed then. Throws Error where
// the kernel refuses.
bool confine(std::span<const std::string> outputs, Network network);

}  // namespace kmt
