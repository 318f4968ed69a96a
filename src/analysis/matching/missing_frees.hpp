// SPDX-License-Identifier: GPL-2.0-or-later
// Finds reasons why memory that looks live at the end of a trace may have been freed. These reasons affect all memory
// of an allocator or of the whole trace.
#pragma once

#include <array>
#include <cstdint>

#include "trace/event.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// True if events were lost that only the kernel's final statistics report.
bool lost_unmarked(const TraceInfo& info);

// Number of frees by event kind.
using FreeCounts = std::array<std::uint64_t, 256>;
// True if a trace has no frees of an allocator because they were not recorded. `allocation` is the kind of the
// allocation events. A complete trace may have no frees of percpu memory and vmap areas, because such frees are rare.
// So for these allocators, the result is true only if the trace has no event type for frees. For the other allocators,
// the result is true if the trace has no frees, except if a list of the recorded event types contains the events of
// frees.
bool lacks_frees(const TraceInfo& info, EventKind allocation, const FreeCounts& frees);

// True if all memory that is live at the end may have been freed, because events were lost or only some tasks were
// recorded.
bool may_lack_frees(const TraceInfo& info);

}  // namespace kmt
