// SPDX-License-Identifier: GPL-2.0-or-later
// Derives facts about a trace from the command line with which it was recorded.
#pragma once

#include <map>
#include <string>

namespace kmt {

// True if only some tasks were recorded, according to the notes of a trace. Either the note some_tasks exists, or the
// command line in the note `arguments` selects tasks or a cgroup.
bool names_some_tasks(const std::map<std::string, std::string>& notes);

}  // namespace kmt
