// SPDX-License-Identifier: GPL-2.0-or-later
// Drops privileges of root that this process does not need.
#pragma once

#include <span>
#include <string>

namespace kmt {

// Keeps only these capabilities if this process is root. All other capabilities (capabilities(7)) are dropped
// permanently, in this thread and in threads that it starts later. A program that root executes has all capabilities
// again. Other users are unaffected, because they have only the capabilities that they were given. Throws Error if the
// kernel refuses.
void keep_capabilities(std::span<const unsigned> capabilities);

// Permanently drops these capabilities for any user, in this thread and in threads that it starts later. Programs that
// it executes do not have them either, unless it is root. Throws Error if the kernel refuses.
void give_up_capabilities(std::span<const unsigned> capabilities);

// True if this process has the capability now.
bool has_capability(unsigned capability);

// True if the current capabilities of this process permit the access. access(2) would ignore the capabilities of a
// process that is not root.
bool may_access(const std::string& path, int mode);

// True if this process is in a user namespace other than the machine's initial one. There, most of the kernel ignores
// the capabilities of the process, and being root gives it no access to the machine's files.
bool is_in_user_namespace();

// Returns what the user can do if the kernel refuses access that only root has: "run it as root". Returns other advice
// if this process is root already.
const char* advice_for_more_privileges();
// Returns similar advice as the start of a sentence.
const char* hint_for_more_privileges();

// True if this kernel has the capability. Older kernels check CAP_SYS_ADMIN instead.
bool knows_capability(unsigned capability);

}  // namespace kmt
