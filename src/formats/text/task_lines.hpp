// SPDX-License-Identifier: GPL-2.0-or-later
// Lines of events that start or rename tasks: task_newtask, task_rename, sched_process_fork and sched_process_exec, as
// printed by include/trace/events/task.h and sched.h, Linux 3.4 to 6.18, and by trace-cmd report -R.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/byte_reader.hpp"
#include "formats/ftrace/format_text.hpp"
#include "formats/text/line.hpp"

namespace kmt::text {

struct TaskField {
  const char* name;    // as in the kernel's description of the event
  const char* key;     // in the text; null: the line's own task
  const char* behind;  // the key after a text, which may have blanks; null: it is a number
  unsigned bytes = 4;
  int base = 10;
};

struct TaskEvent {
  std::string_view system, event;
  std::span<const TaskField> fields;
};

// Returns null for other events.
const TaskEvent* task_event(const Line& line);
std::vector<TextField> described(const TaskEvent& event);
// Writes the fields into a record with room for the numbers, and appends texts. False if the line lacks one.
bool encode_task_event(const TaskEvent& event, const Line& line, std::span<const unsigned> offsets, ByteOrder order,
                       std::vector<std::uint8_t>& record);

}  // namespace kmt::text
