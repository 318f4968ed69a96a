// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/ftrace/task_naming.hpp"

#include <algorithm>
#include <string_view>

#include "base/arithmetic/size.hpp"

namespace kmt {

namespace {

using Kind = TaskNaming::Kind;

constexpr std::size_t kMostNameBytes = 15;  // TASK_COMM_LEN without its NUL

struct Known {
  std::string_view system, event;
  const char* pid;
  const char* name;
  Kind kind;
};

constexpr Known kKnown[] = {
    {"task", "task_newtask", "pid", "comm", Kind::from_now},
    {"task", "task_rename", "pid", "oldcomm", Kind::until_now},
    {"task", "task_rename", "pid", "newcomm", Kind::from_now},
    {"sched", "sched_switch", "prev_pid", "prev_comm", Kind::from_now},
    {"sched", "sched_switch", "next_pid", "next_comm", Kind::from_now},
    {"sched", "sched_process_exec", "pid", "filename", Kind::path_from_now},
    {"sched", "sched_process_fork", "child_pid", "child_comm", Kind::from_now},
    {"lttng", "lttng_statedump_process_state", "tid", "name", Kind::from_now},  // LTTng 2.0 to 2.13
};

std::string_view name_in(const TaskNaming& naming, Bytes record, ByteOrder order) {
  std::uint64_t offset = naming.name;
  std::uint64_t size = naming.size;
  if (size == 0) {
    const auto where = load<std::uint32_t>(record.data() + naming.name, order);
    offset = where & 0xFFFF;
    size = where >> 16;
    if (offset + size > record.size()) return {};
  }
  const std::string_view text(reinterpret_cast<const char*>(record.data()) + offset, to_size(size));
  return text.substr(0, text.find('\0'));
}

}  // namespace

std::vector<TaskNaming> task_namings(const EventFormat& format, std::uint32_t& least_bytes) {
  std::vector<TaskNaming> namings;
  for (const Known& known : kKnown) {
    if (known.system != format.system || known.event != format.name) continue;
    const FormatField* pid = format.field(known.pid);
    // A task usually renames itself, so it is the task of the event.
    if (pid == nullptr) pid = format.field("common_pid");
    const FormatField* const name = format.field(known.name);
    if (pid == nullptr || pid->size != 4 || name == nullptr) continue;
    const bool dynamic = name->is_dynamic && !name->is_relative && name->size == 4;
    if (!dynamic && (name->is_dynamic || name->size == 0 || name->size > 64)) continue;
    if (pid->offset > 0x7FFF || name->offset > 0x7FFF) continue;
    namings.push_back({known.kind, pid->offset, name->offset, dynamic ? 0 : name->size});
    least_bytes = std::max({least_bytes, pid->offset + pid->size, name->offset + name->size});
  }
  return namings;
}

void learn_task_names(const std::vector<TaskNaming>& namings, Bytes record, ByteOrder order, std::uint64_t time_ns,
                      TaskNameHistory& names) {
  for (const TaskNaming& naming : namings) {
    const auto tid = static_cast<std::int32_t>(load<std::uint32_t>(record.data() + naming.pid, order));
    std::string_view name = name_in(naming, record, order);
    if (naming.kind == Kind::path_from_now) name = name.substr(name.rfind('/') + 1);
    name = name.substr(0, kMostNameBytes);
    if (tid == 0 || name.empty()) continue;  // the idle tasks of all CPUs have ID 0
    if (naming.kind == Kind::until_now)
      names.called_before(tid, time_ns, name);
    else
      names.called_since(tid, time_ns, name);
  }
}

}  // namespace kmt
