// SPDX-License-Identifier: GPL-2.0-or-later
// For results that are carried away without the trace's own report: what the trace lacks is said on stderr.
#pragma once

#include <string_view>

#include "trace/imperfections.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// Nothing is said of a whole trace.
void say_damage(const Findings& findings);
// Of a result, "export", that Ctrl+C made one of a part.
void say_interrupted(std::string_view result);

// Where the recording noted the cgroups of tasks, and all of these were in the root.
void say_lack_of_cgroups(const TraceInfo& info);

}  // namespace kmt
