// SPDX-License-Identifier: GPL-2.0-or-later
// Converts tracepoint records of a perf.data to raw records for other formats.
#pragma once

#include "formats/record_stream.hpp"

namespace kmt::perfdata {

// Converts the file to records, and reads it twice for this. The kernel part of a call chain becomes a kernel_stack
// record after the record of its event. Names and births of tasks become notes. Samples that are not tracepoints are
// dropped and reported. Throws Error.
void read_records(const TraceFile& file, RecordSink& sink, Findings& findings);

}  // namespace kmt::perfdata
