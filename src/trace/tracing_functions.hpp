// SPDX-License-Identifier: GPL-2.0-or-later
// Functions that are in front of a stack only because something traces: which of them depends on who else does.
#pragma once

#include <string_view>

namespace kmt {

// By its name; kernel/trace/bpf_trace.c, include/trace/perf.h, include/linux/tracepoint.h, Linux 6.1 to 6.18.
bool is_tracing_function(std::string_view name);

}  // namespace kmt
