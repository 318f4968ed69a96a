// SPDX-License-Identifier: GPL-2.0-or-later
// Prints notes on stderr about an incomplete trace, for commands that print no report of the trace.
#pragma once

#include <string_view>

#include "trace/imperfections.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// Prints nothing if the trace is complete.
void say_damage(const Findings& findings);
// Prints a note that the result, such as "export", is partial because of Ctrl+C.
void say_interrupted(std::string_view result);

// Prints a note if cgroups were recorded but all tasks were in the root cgroup.
void say_lack_of_cgroups(const TraceInfo& info);

}  // namespace kmt
