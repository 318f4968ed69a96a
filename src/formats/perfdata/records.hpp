// SPDX-License-Identifier: GPL-2.0-or-later
// The tracepoints' records of a perf.data, for going to other formats.
#pragma once

#include "formats/record_stream.hpp"

namespace kmt::perfdata {

// What other formats have no place for changes: a call chain's kernel part becomes a record of kernel_stack behind its
// event, and names and births of tasks become notes. Samples of other kinds are left out, and said. Reads the file
// twice. Throws Error.
void read_records(const TraceFile& file, RecordSink& sink, Findings& findings);

}  // namespace kmt::perfdata
