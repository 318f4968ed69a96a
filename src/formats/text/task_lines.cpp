// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/text/task_lines.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "base/number.hpp"
#include "base/text.hpp"

namespace kmt::text {

namespace {

constexpr std::array kNewTask = {TaskField{"pid", "pid", nullptr}, TaskField{"comm", "comm", "clone_flags"},
                                 TaskField{"clone_flags", "clone_flags", nullptr, 8, 16}};
// The task of the line is taken as the renamed task, because a task nearly always renames itself. Since Linux 6.15, the
// event has no `pid` field.
constexpr std::array kRename = {TaskField{"pid", nullptr, nullptr}, TaskField{"oldcomm", "oldcomm", "newcomm"},
                                TaskField{"newcomm", "newcomm", "oom_score_adj"}};
constexpr std::array kFork = {TaskField{"parent_pid", nullptr, nullptr},
                              TaskField{"child_comm", "child_comm", "child_pid"},
                              TaskField{"child_pid", "child_pid", nullptr}};
constexpr std::array kExec = {TaskField{"filename", "filename", "pid"}, TaskField{"pid", "pid", nullptr}};
constexpr std::array kEvents = {TaskEvent{"task", "task_newtask", kNewTask}, TaskEvent{"task", "task_rename", kRename},
                                TaskEvent{"sched", "sched_process_fork", kFork},
                                TaskEvent{"sched", "sched_process_exec", kExec},
                                TaskEvent{"sched", "sched_process_exit", {}}};

// Returns the value of a field: the text after "KEY=", up to the last " AFTER=" if the field is a text, or up to a
// blank. Names of tasks may contain text that looks like a key.
std::optional<std::string_view> value_after(std::string_view fields, const TaskField& field) {
  fields = trim(fields);
  const std::string key = fmt::format(" {}=", field.key);
  std::size_t begin = 0;
  if (!fields.starts_with(std::string_view(key).substr(1))) {
    begin = field.after == nullptr ? fields.rfind(key) : fields.find(key);
    if (begin == std::string_view::npos) return std::nullopt;
    ++begin;
  }
  const std::string_view value = fields.substr(begin + key.size() - 1);
  const std::size_t end = field.after == nullptr ? value.find(' ') : value.rfind(fmt::format(" {}=", field.after));
  if (field.after != nullptr && end == std::string_view::npos) return std::nullopt;
  return value.substr(0, end);
}

}  // namespace

const TaskEvent* task_event(const Line& line) {
  const auto* const found = std::ranges::find(kEvents, line.event, &TaskEvent::event);
  return found == kEvents.end() || (!line.system.empty() && line.system != found->system) ? nullptr : found;
}

std::vector<TextField> described(const TaskEvent& event) {
  std::vector<TextField> fields;
  for (const TaskField& field : event.fields)
    fields.push_back({field.name, field.bytes, false, field.after != nullptr});
  return fields;
}

bool encode_task_event(const TaskEvent& event, const Line& line, std::span<const unsigned> offsets, ByteOrder order,
                       std::vector<std::uint8_t>& record) {
  for (std::size_t i = 0; i < event.fields.size(); ++i) {
    const TaskField& field = event.fields[i];
    if (field.key == nullptr) {
      store(record.data() + offsets[i], static_cast<std::uint32_t>(line.tid), order);
      continue;
    }
    const auto value = value_after(line.fields, field);
    if (!value) return false;
    if (field.after != nullptr) {
      store(record.data() + offsets[i], static_cast<std::uint32_t>((value->size() + 1) << 16 | record.size()), order);
      record.insert(record.end(), value->begin(), value->end());
      record.push_back(0);
      continue;
    }
    const auto number =
        value->starts_with("0x") ? parse_hexadecimal(*value) : parse_number<std::uint64_t>(*value, field.base);
    if (!number) return false;
    if (field.bytes == 8)
      store(record.data() + offsets[i], *number, order);
    else
      store(record.data() + offsets[i], static_cast<std::uint32_t>(*number), order);
  }
  return true;
}

}  // namespace kmt::text
