// SPDX-License-Identifier: GPL-2.0-or-later
// Names of programs that trace the kernel, and of functions that allocate their buffers. The memory that the kernel
// allocates for these programs is caused by the measurement.
#pragma once

#include <string_view>

namespace kmt {

// True for the name of a task of kmemtrace, perf, trace-cmd or bpftrace.
bool is_tracing_tool(std::string_view comm);
// True for a function that allocates the ring buffers of ftrace or perf. Any task may cause such an allocation, for
// example a shell that sets the size of the buffers.
bool is_of_ring_buffer(std::string_view function);

}  // namespace kmt
