// SPDX-License-Identifier: GPL-2.0-or-later
// What is known of tasks and told by no event, as notes of a trace: docs/formats/kmt.md. Times are ticks, which are
// nanoseconds in what converters make.
#pragma once

#include <map>
#include <string>

#include "trace/clock_scale.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

using Notes = std::map<std::string, std::string>;

// The names of tasks that had several.
void note_task_names(const TaskNameHistory& names, Notes& notes);
// Births, and who lived when the recording began and ended.
void note_task_lives(const TaskLives& lives, Notes& notes);
// Of these notes, and of those that recorders write of `/proc`.
void read_task_notes(const ClockScale& scale, TraceInfo& info);

}  // namespace kmt
