// SPDX-License-Identifier: GPL-2.0-or-later
// What is known of tasks and told by no event, as notes of a trace: docs/formats/kmt.md. Times are ticks, which are
// nanoseconds in what converters make.
#pragma once

#include <array>
#include <map>
#include <string>

#include "trace/clock_scale.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

using Notes = std::map<std::string, std::string>;

// Lines "PID PARENT PID-SPACE CGROUP" of processes and "TID PID" of other threads: when the recording began, soon after
// that, and when it ended.
inline constexpr std::array<const char*, 3> kNotesOfProc = {"tasks", "tasks_meanwhile", "tasks_later"};

// The names of tasks that had several. What is too much for a note, the last ones, becomes a finding.
void note_task_names(const TaskNameHistory& names, Notes& notes, Findings& findings);
// Births, and who lived when the recording began and ended; likewise.
void note_task_lives(const TaskLives& lives, Notes& notes, Findings& findings);
// Of these notes, and of those that recorders write of `/proc`.
void read_task_notes(const ClockScale& scale, TraceInfo& info);

}  // namespace kmt
