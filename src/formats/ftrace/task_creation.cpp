// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/ftrace/task_creation.hpp"

#include <algorithm>

namespace kmt {

namespace {

constexpr std::uint64_t kCloneThread = 0x10000;  // include/uapi/linux/sched.h

}  // namespace

std::optional<TaskCreation> task_creation(const EventFormat& format, std::uint32_t& least_bytes) {
  if (format.system != "task" || format.name != "task_newtask") return std::nullopt;
  const FormatField* const parent = format.field("common_pid");
  const FormatField* const pid = format.field("pid");
  const FormatField* const flags = format.field("clone_flags");
  if (parent == nullptr || pid == nullptr || flags == nullptr) return std::nullopt;
  if (parent->size != 4 || pid->size != 4 || (flags->size != 4 && flags->size != 8)) return std::nullopt;
  for (const FormatField* const field : {parent, pid, flags}) {
    if (field->offset > 0x7FFF) return std::nullopt;
    least_bytes = std::max(least_bytes, field->offset + field->size);
  }
  return TaskCreation{parent->offset, pid->offset, flags->offset, flags->size};
}

void ThreadGroups::learn(const TaskCreation& creation, Bytes record, ByteOrder order, std::uint64_t time_ns) {
  const auto task_at = [&](std::uint32_t offset) {
    return static_cast<std::int32_t>(load<std::uint32_t>(record.data() + offset, order));
  };
  const std::int32_t tid = task_at(creation.pid);
  const auto [seen, first] = seen_ns_.try_emplace(tid, time_ns);
  if (!first && seen->second > time_ns) return;
  seen->second = time_ns;

  const std::uint64_t flags = load_sized(record.data() + creation.clone_flags, creation.flags_bytes, order);
  std::int32_t group = tid;
  if ((flags & kCloneThread) != 0) {
    // The parent may be a thread whose creation is not read yet; thread_group() finds its group later.
    group = task_at(creation.parent);
    if (const auto parent = groups_.find(group); parent != groups_.end()) group = parent->second;
  }
  groups_[tid] = group;
}

}  // namespace kmt
