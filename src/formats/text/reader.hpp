// SPDX-License-Identifier: GPL-2.0-or-later
// Text of events as a Source, and as raw records.
#pragma once

#include <memory>

#include "formats/record_stream.hpp"
#include "trace/source.hpp"

namespace kmt::text {

// True if a line near the start is an event, or the whole text is the header of ftrace's text.
bool is_text(Bytes bytes);

std::unique_ptr<Source> open(const TraceFile& file, const OpenOptions& options);
// Events of systems that are not interpreted become records without fields.
void read_records(const TraceFile& file, RecordSink& sink, Findings& findings);

}  // namespace kmt::text
