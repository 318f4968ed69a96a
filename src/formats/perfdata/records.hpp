// SPDX-License-Identifier: GPL-2.0-or-later
// The tracepoints' records of a perf.data, for conversion to other formats.
#pragma once

#include "formats/record_stream.hpp"

namespace kmt::perfdata {

// Data without a place in other formats changes: a call chain's kernel part becomes a record of kernel_stack after its
// event, and names and births of tasks become notes. Samples of other kinds are dropped and reported. Reads the file
// twice. Throws Error.
void read_records(const TraceFile& file, RecordSink& sink, Findings& findings);

}  // namespace kmt::perfdata
