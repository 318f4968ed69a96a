// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the system call in which an event happened. If possible, uses the functions in the event's stack. Otherwise it
// uses the raw_syscalls:sys_enter and sys_exit events, or the separate events of each system call. A name in brackets
// is not that of a system call. If only a function is known, its name is followed by ().
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/flat_map.hpp"
#include "trace/code/symbol_names.hpp"
#include "trace/tasks/processes.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

class Syscalls {
 public:
  // All arguments must outlive this object. `tasks` contains names of tasks that may not be in `info` yet, and shows
  // which tasks are kernel threads.
  Syscalls(const TraceInfo& info, const TraceTasks& tasks, const SymbolNames& symbols);

  // Follows the system calls of tasks. Call this for each syscall_enter, syscall_exit and `other` event
  // (sched_process_exit is an `other` event), in order of time.
  void see(const Event& event);
  // Returns the ID of the system call in which the event happened; 0 if unknown.
  std::uint32_t id_of(const Event& event);
  const std::string& name(std::uint32_t id) const { return names_[id]; }

 private:
  // A thread that has called execve and is not the first thread of its process. `compat` is true if the thread's
  // program is a 32-bit program.
  struct Executing {
    std::int32_t tid;
    bool compat;
  };
  // The outermost known kernel entry in a stack.
  struct Entry {
    bool known = false;    // true: an entry is known, and the other members are set
    bool compat = false;   // true: the entry is 32-bit entry code
    bool unnamed = false;  // true: some frames have no symbol, and one of them may be the system call
    std::uint32_t syscall = 0;
    std::uint32_t likely = 0;  // ID of a system call, guessed from the function that the system call runs
    std::uint32_t other = 0;   // ID of another entry, such as a page fault
  };
  struct State {
    std::uint64_t since_ns = 0;
    std::uint64_t number = 0;
    bool inside = false;
    bool ended = false;  // true: the task has ended
    bool has_number = true;
    std::uint32_t name = 0;  // 0: not computed yet
    EventTypeId type = {};   // type of the start event
    bool compat = false;     // the call came through 32-bit entry code, as for int 0x80 in a 64-bit program
  };
  // Information about system calls in an event type.
  struct Named {
    bool known = false;  // true: the type is for system calls, and the other members are set
    bool ends_task = false;
    bool is_named = false;  // the name of the event type contains the name of the system call
    bool compat = false;
    std::uint32_t name = 0;  // name ID; 0: the event contains the number of the system call
    bool can_end = false;    // true: the trace can contain the end of this call, or the call never returns
    // Number of calls that began with this event type: `ended` have an end event, `unended` have none before the next
    // call of the task.
    std::uint64_t ended = 0;
    std::uint64_t unended = 0;
  };

  std::uint32_t intern(std::string name);
  const Entry& entry_of(StackId stack);
  Named& named_by(EventTypeId type);
  bool can_end(const EventType& begin, std::string_view name) const;
  void count_end(const Event& event);
  State* last_state(const Event& event);
  State* state_of(const Event& event);
  void see_end(const Event& event);
  void note_exec_of_thread(const Event& event);
  void note_width(const Event& event);
  bool is_compat(Process process, std::uint64_t time_ns) const;
  std::uint32_t name_of(std::uint64_t number, bool compat);

  const TraceInfo& info_;
  const TraceTasks& tasks_;
  const SymbolNames& symbols_;
  std::vector<std::string> names_ = {""};
  std::map<std::string, std::uint32_t, std::less<>> ids_;
  // Key: number of the system call, and whether the program is a 32-bit program.
  std::map<std::pair<std::uint64_t, bool>, std::uint32_t> numbers_;
  std::vector<Entry> stacks_;               // index: StackId
  std::vector<Named> types_;                // index: EventTypeId
  FlatMap<State> states_;                   // key: task
  std::set<std::int32_t> compat_at_begin_;  // processes that ran 32-bit programs at the start
  // By process and time: true if the process executes a 32-bit program from then on. Contains only times at which this
  // changed.
  std::map<std::int32_t, std::map<std::uint64_t, bool>> widths_;
  std::map<std::int32_t, Executing> executing_;  // key: process
  std::size_t lost_seen_ = 0;
};

}  // namespace kmt
