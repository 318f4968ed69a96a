// SPDX-License-Identifier: GPL-2.0-or-later
// Implements --trigger oom: describes a kill by the OOM killer in files beside the trace.
#pragma once

#include <string>

#include "trace/state/kernel_memory.hpp"

namespace kmt {

// Makes this process the last one that the OOM killer chooses.
void avoid_oom_killer();

// Returns a text such as "stress (process 812), when kswapd0 needed memory".
std::string victim_of_kill(const OomKill& kill);

// Writes three files beside a trace that ended with a kill. For trace.kmt, these are trace.oom.kmt with the kernel's
// report of the kill as a snapshot, trace.pb.gz with a profile of the allocations in the trace, and trace.html. The
// page shows the victim, how memory was used, and who allocated memory in the last minute. Reports files that could not
// be written on stderr.
void write_oom_files(const std::string& trace);

}  // namespace kmt
