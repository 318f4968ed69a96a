// SPDX-License-Identifier: GPL-2.0-or-later
// What root may do and this process need not.
#pragma once

#include <span>
#include <string>

namespace kmt {

// Of root: gives up all capabilities (capabilities(7)) but these, for good, in this thread and those that it starts. A
// program that root executes has all of them again. Nobody else is changed: who is not root was given what is needed.
// Throws Error where the kernel refuses.
void keep_capabilities(std::span<const unsigned> capabilities);

// Of anybody: gives up these, for good, in this thread and those that it starts, and in programs that it executes
// unless it is root. Throws Error where the kernel refuses.
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
