// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the task to which an ID belongs at a time. The kernel reuses IDs, so a task is identified by its ID and its
// birth. Data may be added out of time order, because CPUs are read one after the other.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kmt {

// A process that existed when the recorder read the kernel's files. For threads other than the first one of a process,
// only the ID of the process is known.
struct KnownProcess {
  std::int32_t group = 0;       // ID of the process
  std::int32_t parent = 0;      // process ID of the parent; 0: none or unknown
  std::uint64_t pid_space = 0;  // inode number of the PID namespace; 0: unknown
  std::string cgroup;           // cgroup of version 2: "/system.slice/db.service"; empty: unknown
};

// A task from its birth, which an event reports, until the next birth of a task with this ID.
struct TaskLife {
  std::int32_t tid = 0;
  std::uint64_t born_ns = 0;
  std::int32_t creator = 0;  // ID of the task that created this task; a later task may have the same ID
  // True: it is known whether the task is a thread. False if only sched_process_fork reported its birth.
  bool knows_kind = false;
  bool is_thread = false;         // the task is a thread in its creator's process
  bool begins_pid_space = false;  // the task is the first one in a new PID namespace
};

class TaskLives {
 public:
  void born(const TaskLife& life);
  void moved(std::int32_t tid, std::uint64_t time_ns, std::string_view cgroup);
  // The time at which the recorder read a process from /proc.
  enum class Noted : std::uint8_t {
    at_begin,   // at the start of the recording
    meanwhile,  // during the recording; the process may have been born before or after the first event
    later,      // later, for example at the end; another process may have the ID by then
  };
  void known(std::int32_t pid, KnownProcess process, Noted when);

  // Returns the life of the task that had this ID at this time. Null if its birth is not in the trace.
  const TaskLife* life_at(std::int32_t tid, std::uint64_t time_ns) const;
  // Returns the time when the ID of this life was reused. Returns the largest number if it was not reused.
  std::uint64_t next_birth_ns(std::int32_t tid, const TaskLife* life) const;
  bool is_used_again(std::int32_t tid) const;  // true if several tasks had this ID
  std::vector<TaskLife> births() const;        // sorted by task and time
  std::map<std::int32_t, KnownProcess> noted(Noted when) const;
  bool noted_at_start() const { return !noted_of(Noted::at_begin).empty(); }
  // Returns data about a process that existed when the recording started; null if there is none.
  const KnownProcess* known_at_begin(std::int32_t pid) const;
  const KnownProcess* known_later(std::int32_t pid) const;
  bool has_moves() const { return !moves_.empty(); }  // true if a task was moved to another cgroup
  // Returns the cgroup to which the task was last moved between `born_ns` and `time_ns`; empty if it was not moved.
  std::string_view moved_to(std::int32_t tid, std::uint64_t born_ns, std::uint64_t time_ns) const;

 private:
  template <typename Value>
  using ByTask = std::unordered_map<std::int32_t, Value>;
  const ByTask<KnownProcess>& noted_of(Noted when) const { return noted_[static_cast<std::size_t>(when)]; }

  ByTask<std::map<std::uint64_t, TaskLife>> lives_;     // inner key: time of birth
  ByTask<std::map<std::uint64_t, std::string>> moves_;  // inner key: time of the move
  std::array<ByTask<KnownProcess>, 3> noted_;           // index: Noted
};

}  // namespace kmt
