// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the system call in which an event happened. Uses the functions in the event's stack if possible, otherwise the
// raw_syscalls:sys_enter and sys_exit events or the separate events of each system call. Names in brackets are not
// system calls. If only a function is known, its name is followed by ().
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

  // Call this for each syscall_enter, syscall_exit and `other` event (sched_process_exit is an `other` event), in order
  // of time.
  void see(const Event& event);
  // Returns the ID of the system call; 0 if the trace does not contain it.
  std::uint32_t id_of(const Event& event);
  const std::string& name(std::uint32_t id) const { return names_[id]; }

 private:
  // A thread in execve that is not the first thread of its process. `compat` is true if its program is a 32-bit
  // program.
  struct Executing {
    std::int32_t tid;
    bool compat;
  };
  // The outermost known kernel entry in a stack.
  struct Entry {
    bool known = false;    // the stack was examined
    bool compat = false;   // 32-bit entry code
    bool unnamed = false;  // some frames have no symbol, so the system call may be among them
    std::uint32_t syscall = 0;
    std::uint32_t likely = 0;  // system call, guessed from the function that it called
    std::uint32_t other = 0;   // another entry, such as a page fault
  };
  struct State {
    std::uint64_t since_ns = 0;
    std::uint64_t number = 0;
    bool inside = false;
    bool ended = false;  // the task is ending
    bool has_number = true;
    std::uint32_t name = 0;  // 0: not computed yet
    EventTypeId type = {};   // type of the start event
    bool compat = false;     // a stack contains 32-bit entry code, as for int 0x80 in a 64-bit program
  };
  // Properties of an event type regarding system calls.
  struct Named {
    bool known = false;  // the type was examined
    bool ends_task = false;
    bool tells = false;  // the type names the system call
    bool compat = false;
    std::uint32_t name = 0;  // 0: the event contains the number
    bool can_end = false;    // the trace can contain the end of such a call, or the call has none
    // Number of calls with this start event: those seen to end, and those without an end before the task's next call.
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
  std::map<std::pair<std::uint64_t, bool>, std::uint32_t> numbers_;  // by number and whether the task is 32-bit
  std::vector<Entry> stacks_;                                        // by StackId
  std::vector<Named> types_;                                         // by EventTypeId
  FlatMap<State> states_;                                            // by task
  std::set<std::int32_t> compat_at_begin_;                           // processes
  // By process and time: true if the process has executed a 32-bit program. Starts with the first program that changes
  // the width.
  std::map<std::int32_t, std::map<std::uint64_t, bool>> widths_;
  std::map<std::int32_t, Executing> executing_;  // by process
  std::size_t lost_seen_ = 0;
};

}  // namespace kmt
