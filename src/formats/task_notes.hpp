// SPDX-License-Identifier: GPL-2.0-or-later
// Facts about tasks that no event holds, as notes of a trace: docs/formats/kmt.md. Times are ticks; converters write
// nanoseconds.
#pragma once

#include <array>
#include <map>
#include <string>

#include "trace/clock_scale.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

using Notes = std::map<std::string, std::string>;

// Lines "PID PARENT PID-SPACE CGROUP" of processes and "TID PID" of other threads: at the recording's start, soon after
// it, and at its end.
inline constexpr std::array<const char*, 3> kNotesOfProc = {"tasks", "tasks_meanwhile", "tasks_later"};

// Writes the names of tasks that had several. Names that exceed the note's size, the last ones, become a finding.
void note_task_names(const TaskNameHistory& names, Notes& notes, Findings& findings);
// Writes births, and the tasks alive at the recording's start and end. The same limit applies.
void note_task_lives(const TaskLives& lives, Notes& notes, Findings& findings);
// Reads these notes, and recorders' notes of `/proc`.
void read_task_notes(const ClockScale& scale, TraceInfo& info);

}  // namespace kmt
