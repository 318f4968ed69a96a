// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/ftrace/life_events.hpp"

#include <algorithm>
#include <string_view>

namespace kmt {

namespace {

using Kind = LifeEvent::Kind;

// include/uapi/linux/sched.h
constexpr std::uint64_t kCloneThread = 0x10000;
constexpr std::uint64_t kCloneNewPid = 0x20000000;

struct Known {
  std::string_view system, event;
  Kind kind;
  const char* pid;
  const char* creator;
  const char* text;
};

constexpr Known kKnown[] = {
    {"task", "task_newtask", Kind::new_task, "pid", "common_pid", nullptr},
    {"sched", "sched_process_fork", Kind::fork, "child_pid", "parent_pid", nullptr},
    {"lttng", "lttng_statedump_process_state", Kind::process_state, "tid", "ppid", nullptr},
    {"cgroup", "cgroup_attach_task", Kind::attach, "pid", nullptr, "dst_path"},
    {"module", "module_load", Kind::module_load, nullptr, nullptr, "name"},
    {"module", "module_free", Kind::module_free, nullptr, nullptr, "name"},
};

std::string_view text_in(const LifeEvent& event, Bytes record, ByteOrder order) {
  const auto where = load<std::uint32_t>(record.data() + event.text, order);
  const std::uint32_t offset = where & 0xFFFF;
  const std::uint32_t size = where >> 16;
  if (offset + size > record.size()) return {};
  const std::string_view text(reinterpret_cast<const char*>(record.data()) + offset, size);
  return text.substr(0, text.find('\0'));
}

}  // namespace

std::optional<LifeEvent> life_event(const EventFormat& format, std::uint32_t& least_bytes) {
  const auto* const known = std::ranges::find_if(
      kKnown, [&](const Known& one) { return one.system == format.system && one.event == format.name; });
  if (known == std::end(kKnown)) return std::nullopt;
  LifeEvent event;
  event.kind = known->kind;
  bool complete = true;
  std::uint32_t end = least_bytes;
  const auto find = [&](const char* name, bool dynamic, std::uint32_t& offset) -> std::uint32_t {
    if (name == nullptr) return 0;
    const FormatField* const field = format.field(name);
    if (field == nullptr || field->offset > 0x7FFF || field->is_dynamic != dynamic || field->is_relative ||
        (field->size != 4 && field->size != 8)) {
      complete = false;
      return 0;
    }
    end = std::max(end, field->offset + field->size);
    offset = field->offset;
    return field->size;
  };
  const auto find_word = [&](const char* name, bool dynamic, std::uint32_t& offset) {
    if (name != nullptr && find(name, dynamic, offset) != 4) complete = false;
  };
  find_word(known->pid, false, event.pid);
  find_word(known->creator, false, event.creator);
  find_word(known->text, true, event.text);
  if (event.kind == Kind::new_task) event.flags_bytes = find("clone_flags", false, event.clone_flags);
  if (event.kind == Kind::attach) find_word("dst_root", false, event.hierarchy);
  if (event.kind == Kind::process_state) find_word("pid", false, event.group);
  if (!complete) return std::nullopt;
  least_bytes = end;
  return event;
}

void learn_life(const LifeEvent& event, Bytes record, ByteOrder order, std::uint64_t time_ns, TraceInfo& info) {
  const auto number_at = [&](std::uint32_t offset) {
    return static_cast<std::int32_t>(load<std::uint32_t>(record.data() + offset, order));
  };
  switch (event.kind) {
    case Kind::new_task: {
      const std::uint64_t flags = load_sized(record.data() + event.clone_flags, event.flags_bytes, order);
      info.tasks.lives.born({number_at(event.pid), time_ns, number_at(event.creator), true, (flags & kCloneThread) != 0,
                             (flags & kCloneNewPid) != 0});
      break;
    }
    case Kind::fork: info.tasks.lives.born({number_at(event.pid), time_ns, number_at(event.creator)}); break;
    case Kind::process_state: {
      const std::int32_t process = number_at(event.group);
      // LTTng lists the processes shortly after the start of the trace. The facts do not apply to the start itself,
      // because the ID may have belonged to another task then.
      if (process == number_at(event.pid))
        info.tasks.lives.known(process, {process, number_at(event.creator), 0, {}}, TaskLives::Noted::later);
      break;
    }
    case Kind::attach:
      // Hierarchy 0 is cgroup v2, which contains all tasks.
      if (number_at(event.hierarchy) == 0)
        info.tasks.lives.moved(number_at(event.pid), time_ns, text_in(event, record, order));
      break;
    case Kind::module_load:
    case Kind::module_free:
      info.code.module_events[std::string(text_in(event, record, order))].insert_or_assign(
          time_ns, event.kind == Kind::module_load);
      break;
  }
}

}  // namespace kmt
