// SPDX-License-Identifier: GPL-2.0-or-later
// Functions that are in front of a stack only because something traces: which of them depends on who else does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "trace/code/symbol_names.hpp"

namespace kmt {

// By its name; kernel/trace/bpf_trace.c, include/trace/perf.h, include/trace/trace_events.h,
// include/linux/tracepoint.h, Linux 6.1 to 6.18.
bool is_tracing_function(std::string_view name);

// A stack from where it allocates: from its call site, if that is known and in it, else without the innermost frames
// that only trace. A frame without a name, or with one that a BPF program may have, counts as tracing only if a
// function that traces follows.
std::span<const std::uint64_t> without_tracing(std::span<const std::uint64_t> frames, std::uint64_t call_site,
                                               const SymbolNames& symbols);

}  // namespace kmt
