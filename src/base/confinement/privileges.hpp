// SPDX-License-Identifier: GPL-2.0-or-later
// Rights of root that this process does not need.
#pragma once

#include <span>
#include <string>

namespace kmt {

// If root, drops all other capabilities (capabilities(7)) for good, in this thread and those that it starts. A program
// that root executes has all of them again. Other users are unchanged, since they were given only what is needed.
// Throws Error if the kernel refuses.
void keep_capabilities(std::span<const unsigned> capabilities);

// For any user, drops these for good, in this thread and those that it starts, and in programs that it executes unless
// it is root. Throws Error if the kernel refuses.
void give_up_capabilities(std::span<const unsigned> capabilities);

// access(2) by the capabilities that this process has now: that one takes those of root's that a process has without
// being root for none.
bool may_access(const std::string& path, int mode);

// Whether this process is in another user namespace than the machine's own, where its capabilities are none to most of
// the kernel, and root is none to the machine's files.
bool is_in_user_namespace();

// Whether this kernel tells that capability from CAP_SYS_ADMIN.
bool knows_capability(unsigned capability);

}  // namespace kmt
