// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/tasks/tracing_tools.hpp"

#include <algorithm>
#include <array>

namespace kmt {

bool is_tracing_tool(std::string_view comm) {
  constexpr std::array<std::string_view, 5> kTools = {"kmemtrace", "kmemtrace-watch", "perf", "trace-cmd", "bpftrace"};
  return std::ranges::find(kTools, comm) != kTools.end();
}

bool is_of_ring_buffer(std::string_view function) {
  constexpr std::array<std::string_view, 5> kPrefixes = {"rb_alloc", "__rb_alloc", "ring_buffer_", "__ring_buffer_",
                                                         "perf_mmap"};
  return std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return function.starts_with(prefix); });
}

}  // namespace kmt
