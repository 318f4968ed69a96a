// SPDX-License-Identifier: GPL-2.0-or-later
// The description of machine and recording from a perf.data, in the common form of all formats.
#pragma once

#include "formats/perfdata/file.hpp"
#include "trace/trace_info.hpp"

namespace kmt::perfdata {

// True if all events are other than tracepoints: they need no descriptions and have no memory events.
bool has_no_tracepoints(const FileContents& contents);
// Fills the machine's part of the info, and adds findings from it.
void describe(FileContents& contents, TraceInfo& info);

}  // namespace kmt::perfdata
