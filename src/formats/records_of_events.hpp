// SPDX-License-Identifier: GPL-2.0-or-later
// Creates ring-buffer records from events, so that a trace without ring-buffer records can be converted to .kmt or
// trace.dat. The records are kmem events with all values of the struct Event.
#pragma once

#include <functional>
#include <memory>

#include "formats/record_stream.hpp"
#include "trace/source.hpp"

namespace kmt {

// Opens and reads the trace twice, because the description, which comes first, needs facts from the end of the trace.
// Writes only events of the slab allocators. The number of other events becomes a finding.
void records_of_events(const std::function<std::unique_ptr<Source>()>& open, RecordSink& sink, Findings& findings);

}  // namespace kmt
