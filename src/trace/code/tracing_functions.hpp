// SPDX-License-Identifier: GPL-2.0-or-later
// Functions that are innermost in a stack only because of tracing. They are not part of the traced code. Which of them
// appear depends on what else is traced on the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "trace/code/symbol_names.hpp"

namespace kmt {

// True if a function belongs to tracing, according to its name. Sources: kernel/trace/bpf_trace.c,
// include/trace/perf.h, include/trace/trace_events.h, include/linux/tracepoint.h, Linux 6.1 to 6.18.
bool is_tracing_function(std::string_view name);

// Returns the part of a stack that starts at the call site. If the stack does not contain the call site, only removes
// the innermost frames that belong to tracing. A frame without a name, or with a name that a BPF program might have, is
// only removed if a tracing function follows.
std::span<const std::uint64_t> without_tracing(std::span<const std::uint64_t> frames, std::uint64_t call_site,
                                               const SymbolNames& symbols);

}  // namespace kmt
