// SPDX-License-Identifier: GPL-2.0-or-later
// Functions that are in front of a stack only because something traces: which of them depends on who else does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "trace/symbol_names.hpp"

namespace kmt {

// By its name; kernel/trace/bpf_trace.c, include/trace/perf.h, include/trace/trace_events.h,
// include/linux/tracepoint.h, Linux 6.1 to 6.18.
bool is_tracing_function(std::string_view name);

// How many of the innermost frames. What has no name, or one as BPF programs may have it, is only where a function
// follows that surely is.
std::size_t leading_tracing_frames(std::span<const std::uint64_t> frames, const SymbolNames& symbols);

}  // namespace kmt
