// SPDX-License-Identifier: GPL-2.0-or-later
// Facts from the command line that recorded a trace.
#pragma once

#include <map>
#include <string>

namespace kmt {

// Whether only some tasks were recorded, by a trace's notes: it says so (some_tasks), or the command line of a
// kmemtrace (arguments) names tasks or a cgroup.
bool names_some_tasks(const std::map<std::string, std::string>& notes);

}  // namespace kmt
