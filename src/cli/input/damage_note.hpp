// SPDX-License-Identifier: GPL-2.0-or-later
// Notes on stderr about an incomplete trace, for results that are used without the trace's own report.
#pragma once

#include <string_view>

#include "trace/imperfections.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// Prints nothing for a complete trace.
void say_damage(const Findings& findings);
// For a result such as "export" that is partial because of Ctrl+C.
void say_interrupted(std::string_view result);

// For a recording with tasks' cgroups in which all tasks were in the root.
void say_lack_of_cgroups(const TraceInfo& info);

}  // namespace kmt
