// SPDX-License-Identifier: GPL-2.0-or-later
// Facts from the command line that recorded a trace.
#pragma once

#include <map>
#include <string>

namespace kmt {

// True if only some tasks were recorded, according to the notes of a trace: the note some_tasks exists, or the command
// line of kmemtrace (note arguments) selects tasks or a cgroup.
bool names_some_tasks(const std::map<std::string, std::string>& notes);

}  // namespace kmt
