// SPDX-License-Identifier: GPL-2.0-or-later
// Text of events as a Source, and as raw records.
#pragma once

#include <memory>

#include "formats/record_stream.hpp"
#include "trace/source.hpp"

namespace kmt::text {

// Whether there is a line of an event near the begin, or the header of ftrace's text and nothing else.
bool is_text(Bytes bytes);

std::unique_ptr<Source> open(const TraceFile& file, const OpenOptions& options);
// Events of systems that are not interpreted become records without fields.
void read_records(const TraceFile& file, RecordSink& sink, Findings& findings);

}  // namespace kmt::text
