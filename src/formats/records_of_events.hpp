// SPDX-License-Identifier: GPL-2.0-or-later
// Creates ring-buffer records for formats without them, so that such traces can be written as .kmt or trace.dat. The
// records are kmem events with all fields that Event has.
#pragma once

#include <functional>
#include <memory>

#include "formats/record_stream.hpp"
#include "trace/source.hpp"

namespace kmt {

// Reads the trace twice: the description comes first but needs facts from the end of the trace. Only slab allocator
// events can be written; dropped events become a finding.
void records_of_events(const std::function<std::unique_ptr<Source>()>& open, RecordSink& sink, Findings& findings);

}  // namespace kmt
