// SPDX-License-Identifier: GPL-2.0-or-later
// Formats whose events are no records of the kernel's ring buffer, as such records: what makes a .kmt or a trace.dat of
// them. The records are those of kmem events with all the fields that Event has of them.
#pragma once

#include <functional>
#include <memory>

#include "formats/record_stream.hpp"
#include "trace/source.hpp"

namespace kmt {

// Reads the trace twice: what is told of it at its end is described first. Events of other kinds than kmem's
// allocations and frees of the slab allocator have no fields that could be written: they are left out, which becomes a
// finding.
void records_of_events(const std::function<std::unique_ptr<Source>()>& open, RecordSink& sink, Findings& findings);

}  // namespace kmt
