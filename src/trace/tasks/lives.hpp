// SPDX-License-Identifier: GPL-2.0-or-later
// The task that an id means at a time. The kernel reuses ids: a task is its id and its birth. Facts may be added in any
// order of time, since CPUs are read one after the other.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kmt {

// A task that lived when the kernel's files were read. For a thread other than the first, only the group is known.
struct KnownProcess {
  std::int32_t group = 0;       // the process
  std::int32_t parent = 0;      // its id; 0: none, or unknown
  std::uint64_t pid_space = 0;  // the inode of its PID namespace; 0: unknown
  std::string cgroup;           // of version 2: "/system.slice/db.service"; empty: unknown
};

// From a birth that events show until the next one with its id.
struct TaskLife {
  std::int32_t tid = 0;
  std::uint64_t born_ns = 0;
  std::int32_t creator = 0;       // the task that made it, in its own life then
  bool knows_kind = false;        // false for sched_process_fork, which does not state it
  bool is_thread = false;         // of its creator's process
  bool begins_pid_space = false;  // it is the first one of a new PID namespace
};

class TaskLives {
 public:
  void born(const TaskLife& life);
  void moved(std::int32_t tid, std::uint64_t time_ns, std::string_view cgroup);
  // The time for which the kernel's files stated it.
  enum class Told : std::uint8_t {
    at_begin,   // of the recording
    meanwhile,  // after events had started: the task was born before or after that
    later,      // the id may belong to another process by then
  };
  void known(std::int32_t pid, KnownProcess process, Told when);

  // Null: the task was born before the trace, or its birth was not recorded.
  const TaskLife* life_at(std::int32_t tid, std::uint64_t time_ns) const;
  // When the id of that life was given to the next task; the largest number: never.
  std::uint64_t next_birth_ns(std::int32_t tid, const TaskLife* life) const;
  bool is_used_again(std::int32_t tid) const;  // whether the id has meant several tasks
  std::vector<TaskLife> births() const;        // by task and time
  std::map<std::int32_t, KnownProcess> told(Told when) const;
  bool told_at_begin() const { return !told_of(Told::at_begin).empty(); }
  // For a task that lived when events began.
  const KnownProcess* known_at_begin(std::int32_t pid) const;
  const KnownProcess* known_later(std::int32_t pid) const;
  bool has_moves() const { return !moves_.empty(); }  // whether a task was moved to another cgroup
  // The cgroup that the task was moved to last, from `born_ns` until the time; empty: none.
  std::string_view moved_to(std::int32_t tid, std::uint64_t born_ns, std::uint64_t time_ns) const;

 private:
  template <typename Value>
  using ByTask = std::unordered_map<std::int32_t, Value>;
  const ByTask<KnownProcess>& told_of(Told when) const { return told_[static_cast<std::size_t>(when)]; }

  ByTask<std::map<std::uint64_t, TaskLife>> lives_;     // by birth
  ByTask<std::map<std::uint64_t, std::string>> moves_;  // by time
  std::array<ByTask<KnownProcess>, 3> told_;            // by when
};

}  // namespace kmt
