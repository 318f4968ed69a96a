// SPDX-License-Identifier: GPL-2.0-or-later
// Lines of events that tell who was started by whom and what tasks are called: task_newtask, task_rename,
// sched_process_fork and sched_process_exec, in the words of include/trace/events/task.h and sched.h, Linux 3.4 to
// 6.18, and of trace-cmd report -R.
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
  const char* name;    // as the kernel's description of the event has it
  const char* key;     // in the text; null: it is the task that the line is of
  const char* behind;  // the key behind a text, which may hold blanks; null: it is a number
  unsigned bytes = 4;
  int base = 10;
};

struct TaskEvent {
  std::string_view system, event;
  std::span<const TaskField> fields;
};

// Null: the event is another one.
const TaskEvent* task_event(const Line& line);
std::vector<TextField> described(const TaskEvent& event);
// Writes the fields into a record that has room for the numbers, and texts behind it. False: the line lacks one.
bool encode_task_event(const TaskEvent& event, const Line& line, std::span<const unsigned> offsets, ByteOrder order,
                       std::vector<std::uint8_t>& record);

}  // namespace kmt::text
