// SPDX-License-Identifier: GPL-2.0-or-later
// Reads text traces as a Source, or as raw records.
#pragma once

#include <memory>
#include <optional>

#include "base/error.hpp"
#include "formats/record_stream.hpp"
#include "trace/source.hpp"

namespace kmt::text {

// True if a line near the start is an event, or if the text is only the header of an ftrace text.
bool is_text(Bytes bytes);

// Returns the reason if the file is text of events that is_text() does not accept.
std::optional<Error> why_no_text(Bytes bytes);

std::unique_ptr<Source> open(const TraceFile& file, const OpenOptions& options);
// Converts the text to records. Events that kmemtrace does not interpret become records without fields.
void read_records(const TraceFile& file, RecordSink& sink, Findings& findings);

}  // namespace kmt::text
