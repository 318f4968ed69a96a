// SPDX-License-Identifier: GPL-2.0-or-later
// Fills in a TraceInfo from the description of the machine and the recording in a perf.data.
#pragma once

#include "formats/perfdata/file.hpp"
#include "trace/trace_info.hpp"

namespace kmt::perfdata {

// True if no event is a tracepoint. Such a file needs no format descriptions and has no memory events.
bool has_no_tracepoints(const FileContents& contents);
// Fills in everything in `info` that the file states about the machine and the recording, and adds findings about it.
void describe(FileContents& contents, TraceInfo& info);

}  // namespace kmt::perfdata
