// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/perfdata/tasks.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "formats/perfdata/layout.hpp"

namespace kmt::perfdata {

namespace {

constexpr std::size_t kMostNameBytes = 15;  // TASK_COMM_LEN without its NUL

}  // namespace

TaskChange read_task_change(const Record& record, ByteOrder order) {
  ByteReader in(record.payload, order, record.offset + kRecordHeaderBytes);
  const auto id = [&in] { return static_cast<std::int32_t>(in.u32()); };
  TaskChange change;
  change.process = id();
  if (record.type == kFork) {
    change.forked = true;
    const std::int32_t parent_process = id();
    if (parent_process != change.process) change.parent_process = parent_process;
    change.task = id();
    change.parent = id();
    return change;
  }
  change.task = id();
  change.executed = (record.misc & kCommExec) != 0;
  const std::string_view rest = in.text(in.remaining());
  change.name = rest.substr(0, std::min(rest.find('\0'), kMostNameBytes));
  return change;
}

std::optional<SpaceChange> space_change(const TaskChange& change) {
  if (change.mapping) return change.mapping->change;
  if (change.process <= 0) return std::nullopt;
  if (change.parent_process > 0)
    return SpaceChange{.time_ns = change.time_ns,
                       .process = change.process,
                       .kind = SpaceChange::Kind::forked,
                       .parent = change.parent_process};
  if (change.executed)
    return SpaceChange{.time_ns = change.time_ns, .process = change.process, .kind = SpaceChange::Kind::executed};
  return std::nullopt;
}

namespace {

void learn_birth(const TaskChange& change, TaskLives& lives) {
  if (change.time_ns != 0)
    return lives.born({change.task, change.time_ns, change.parent, true, change.parent_process == 0});
  KnownProcess process;
  process.group = change.process;
  if (change.task == change.process) process.parent = std::max(change.parent_process, 0);
  lives.known(change.task, std::move(process), change.at_end ? TaskLives::Noted::later : TaskLives::Noted::at_begin);
}

}  // namespace

// Adds a change to `info`. Ignores tasks outside the recorder's PID namespace, for which perf writes the ID -1.
void learn(const TaskChange& change, TraceInfo& info) {
  if (const auto of_memory = space_change(change)) info.code.address_spaces.add(*of_memory);
  if (change.mapping) return;
  if (change.task <= 0) return;  // the idle tasks of all CPUs have ID 0
  if (change.process > 0) info.tasks.thread_groups[change.task] = change.process;
  if (change.forked && change.process > 0) learn_birth(change, info.tasks.lives);
  std::string name = change.name;
  if (name.empty()) {
    if (change.task == change.parent) return;  // the record is not about a new task; the name is in a PERF_RECORD_COMM
    const std::string_view of_parent = task_name(info.tasks, change.parent, change.time_ns);
    if (change.parent <= 0 || of_parent == "<...>") return;
    name = of_parent;
  }
  info.tasks.names.called_since(change.task, change.time_ns, name);
  info.tasks.comms[change.task] = std::move(name);
}

}  // namespace kmt::perfdata
