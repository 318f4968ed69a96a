// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/tasks/tracing_tools.hpp"

#include <algorithm>
#include <array>

namespace kmt {

bool is_tracing_tool(std::string_view comm) {
  constexpr std::array<std::string_view, 5> kTools = {"kmemtrace", "kmemtrace-watch", "perf", "trace-cmd", "bpftrace"};
  return std::ranges::find(kTools, comm) != kTools.end();
}

}  // namespace kmt
