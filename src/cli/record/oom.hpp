// SPDX-License-Identifier: GPL-2.0-or-later
// Implements --trigger oom: describes a kill by the OOM killer in files next to the trace.
#pragma once

#include <string>

#include "trace/state/kernel_memory.hpp"

namespace kmt {

// Protects this process from the OOM killer. Prints a note if that is not permitted.
void avoid_oom_killer();

// Returns a text such as "stress (pid 812), when make needed memory".
std::string victim_of_kill(const OomKill& kill);

// Writes three files next to a trace that ended with a kill. For trace.kmt, these are trace.oom.kmt with the kernel's
// report of the kill as a snapshot, trace.pb.gz with a profile of the allocations in the trace, and trace.html. The
// page shows the victim, how memory was used, and who allocated memory in the last minute. If a file cannot be written,
// prints a warning.
void write_oom_files(const std::string& trace);

}  // namespace kmt
