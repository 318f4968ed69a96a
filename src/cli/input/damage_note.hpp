// SPDX-License-Identifier: GPL-2.0-or-later
// Prints notes on stderr if a trace is incomplete. Commands that print no report about the trace use these notes.
#pragma once

#include <string_view>

#include "trace/imperfections.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// Prints nothing if the trace is complete.
void say_damage(const Findings& findings);
// Prints a note that the result is partial because of Ctrl+C. `result` names it, for example "export".
void say_interrupted(std::string_view result);

// Prints a note if the trace has cgroups, but all tasks were in the root cgroup.
void say_lack_of_cgroups(const TraceInfo& info);

}  // namespace kmt
