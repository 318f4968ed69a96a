// SPDX-License-Identifier: GPL-2.0-or-later
// Stores facts about tasks in the notes of a trace (docs/formats/kmt.md), if no event contains these facts. Times are
// in ticks of the trace's clock. Converters write nanoseconds.
#pragma once

#include <array>
#include <map>
#include <string>

#include "trace/clock_scale.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

using Notes = std::map<std::string, std::string>;

// Notes that list the tasks at the start of the recording, shortly after the start, and at the end. Lines are "PID
// PARENT PID-SPACE CGROUP" for processes, and "TID PID" for other threads.
inline constexpr std::array<const char*, 3> kNotesOfProc = {"tasks", "tasks_meanwhile", "tasks_later"};

// Writes the names of tasks that had several names. If the note would be too large, the last names are dropped and
// reported as a finding.
void note_task_names(const TaskNameHistory& names, Notes& notes, Findings& findings);
// Writes task births, and the tasks alive at the start and end of the recording. If a note would be too large, its last
// entries are dropped and reported as a finding.
void note_task_lives(const TaskLives& lives, Notes& notes, Findings& findings);
// Reads the notes that the functions above write, and the notes about `/proc` that recorders write.
void read_task_notes(const ClockScale& scale, TraceInfo& info);

}  // namespace kmt
