// SPDX-License-Identifier: GPL-2.0-or-later
// What a perf.data says of the machine and of the recording, in the words of all formats.
#pragma once

#include "formats/perfdata/file.hpp"
#include "trace/trace_info.hpp"

namespace kmt::perfdata {

// Of other kinds of events than tracepoints only: nothing of memory, and nothing is missing that would describe them.
bool has_no_tracepoints(const FileContents& contents);
// Fills the machine's part of the info, and the findings that it gives cause to.
void describe(FileContents& contents, TraceInfo& info);

}  // namespace kmt::perfdata
