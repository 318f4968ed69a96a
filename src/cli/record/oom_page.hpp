// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

#include "results/snapshot/snapshot.hpp"

namespace kmt {

// False if this build cannot write HTML pages. Then page_of_kill() throws.
bool has_oom_page();
// Returns an HTML page about the kill at the end of a trace: the victim, who allocated memory in the last minute of the
// trace, and how memory was used. `memory` is the kernel's report of the kill; null if there is none. Throws Error.
std::string page_of_kill(const std::string& trace, const SnapshotResult* memory);

}  // namespace kmt
