// SPDX-License-Identifier: GPL-2.0-or-later
// Makes ring-buffer records of formats that have none, so that they can become a .kmt or a trace.dat. The records are
// those of kmem events, with all fields that Event has.
#pragma once

#include <functional>
#include <memory>

#include "formats/record_stream.hpp"
#include "trace/source.hpp"

namespace kmt {

// Reads the trace twice, because the description comes first and needs facts from the trace's end. Only events of the
// slab allocator can be written; dropped events become a finding.
void records_of_events(const std::function<std::unique_ptr<Source>()>& open, RecordSink& sink, Findings& findings);

}  // namespace kmt
