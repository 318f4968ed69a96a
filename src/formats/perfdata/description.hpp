// SPDX-License-Identifier: GPL-2.0-or-later
// Converts the description of machine and recording in a perf.data to a TraceInfo.
#pragma once

#include "formats/perfdata/file.hpp"
#include "trace/trace_info.hpp"

namespace kmt::perfdata {

// True if no event is a tracepoint. Such a file needs no format descriptions and has no memory events.
bool has_no_tracepoints(const FileContents& contents);
// Fills in what the file says about the machine and the recording, and adds findings about this data.
void describe(FileContents& contents, TraceInfo& info);

}  // namespace kmt::perfdata
