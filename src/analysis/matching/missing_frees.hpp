// SPDX-License-Identifier: GPL-2.0-or-later
// Why what lives at the end of a trace may have been freed anyway, whatever it is.
#pragma once

#include <array>
#include <cstdint>

#include "trace/event.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// True if only the kernel's final statistics show that events were lost.
bool lost_unmarked(const TraceInfo& info);

// By the kind of the event.
using FreeCounts = std::array<std::uint64_t, 256>;
// Whether a trace with so many frees has none of what such an event allocates because they were not recorded. Percpu
// memory and vmap areas are few enough that none need be freed in a trace, nor need others where it is known which
// events were recorded: they lack frees when the trace knows no event that would show one.
bool lacks_frees(const TraceInfo& info, EventKind allocation, const FreeCounts& frees);

// Whether losses, or that only some tasks were recorded, make all that lives at its end doubtful.
bool may_lack_frees(const TraceInfo& info);

}  // namespace kmt
