// SPDX-License-Identifier: GPL-2.0-or-later
// Finds reasons why memory that looks live at the end of a trace may have been freed. These reasons affect all memory
// of an allocator or of the whole trace.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "trace/event.hpp"
#include "trace/imperfections.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// Number of frees by event kind.
using FreeCounts = std::array<std::uint64_t, 256>;
// True if a trace has no frees of an allocator because they were not recorded. `allocation` is the kind of the
// allocation events. A complete trace may have no frees of percpu memory and vmap areas, because such frees are rare.
// For these allocators, the result is true only if the trace has no event type for frees. For the other allocators, the
// result is true if the trace has no frees, unless the trace lists its recorded event types and the list contains the
// events of frees.
bool lacks_frees(const TraceInfo& info, EventKind allocation, const FreeCounts& frees);

// Returns the kinds of findings that mean that events before `end_ns` may be missing (kImpliesMissingEvents). If only
// the end of the file is missing, no event before this end is missing.
std::vector<Imperfection> hiding_events(const TraceInfo& info, std::uint64_t end_ns);

inline constexpr std::uint64_t kAnyTime = ~std::uint64_t{0};

// Returns a time: from then until `end_ns`, no event was lost. 0: no event was lost. kAnyTime: events were lost at
// unknown times.
std::uint64_t events_lost_until(const TraceInfo& info, std::uint64_t end_ns);

// Returns a time: from then until `end_ns`, the trace lacks no free. 0: the trace lacks only frees that have no event.
// kAnyTime: frees may be missing at unknown times, or only some tasks were recorded.
std::uint64_t frees_missing_until(const TraceInfo& info, std::uint64_t end_ns);

}  // namespace kmt
