// SPDX-License-Identifier: GPL-2.0-or-later
// Parses lines of events that start or rename tasks: task_newtask, task_rename, sched_process_fork and
// sched_process_exec. The lines may be from the kernel (include/trace/events/task.h and sched.h, Linux 3.4 to 6.18) or
// from trace-cmd report -R.
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
  const char* name;   // name in the kernel's description of the event
  const char* key;    // key in the line; null if the value is the task of the line
  const char* after;  // key that follows a text, which may contain blanks; null for a number
  unsigned bytes = 4;
  int base = 10;
};

struct TaskEvent {
  std::string_view system, event;
  std::span<const TaskField> fields;
};

// Returns the event of the line. Null if it does not start or rename a task.
const TaskEvent* task_event(const Line& line);
std::vector<TextField> described(const TaskEvent& event);
// Writes the numbers of the event into the record, which must be large enough, and appends its texts. Returns false if
// the line lacks a field.
bool encode_task_event(const TaskEvent& event, const Line& line, std::span<const unsigned> offsets, ByteOrder order,
                       std::vector<std::uint8_t>& record);

}  // namespace kmt::text
