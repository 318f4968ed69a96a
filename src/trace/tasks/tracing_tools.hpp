// SPDX-License-Identifier: GPL-2.0-or-later
// Names of programs that trace the kernel. The memory that the kernel allocates for them is part of the measurement.
#pragma once

#include <string_view>

namespace kmt {

// True for the name of a task of kmemtrace, perf, trace-cmd or bpftrace.
bool is_tracing_tool(std::string_view comm);

}  // namespace kmt
