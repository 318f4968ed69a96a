// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the system call of its task in which an event happened: by the functions in its stack, else by the events
// raw_syscalls:sys_enter and sys_exit, or those that each system call has of its own. Names in brackets are no system
// calls. If only a function is known, its name is followed by ().
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
  // All that is given must outlive this; `tasks` knows who is a kernel thread, which `info` may not know yet.
  Syscalls(const TraceInfo& info, const TraceTasks& tasks, const SymbolNames& symbols);

  // Call this for every syscall_enter, syscall_exit and `other` event (sched_process_exit is one), in the order of
  // time.
  void see(const Event& event);
  // 0: the trace does not say.
  std::uint32_t id_of(const Event& event);
  const std::string& name(std::uint32_t id) const { return names_[id]; }

 private:
  // A thread that is not its process' first one, in execve, and whether as a 32-bit one.
  struct Executing {
    std::int32_t tid;
    bool compat;
  };
  // The outermost known entry in a stack.
  struct Entry {
    bool known = false;    // it was examined
    bool compat = false;   // of a 32-bit task
    bool unnamed = false;  // has frames without a symbol: what is not found in it may be there
    std::uint32_t syscall = 0;
    std::uint32_t likely = 0;  // the system call by what its function called
    std::uint32_t other = 0;   // a page fault, say
  };
  struct State {
    std::uint64_t since_ns = 0;
    std::uint64_t number = 0;
    bool inside = false;
    bool ended = false;  // it is at its end
    bool has_number = true;
    std::uint32_t name = 0;  // 0: not asked for
    EventTypeId type = {};   // of the event that has the number
    bool compat = false;     // a stack shows that it came by the 32-bit way, as int 0x80 of a 64-bit program does
  };
  // The system call that an event's type names.
  struct Named {
    bool known = false;  // it was examined
    bool ends_task = false;
    bool tells = false;  // the system call
    bool compat = false;
    std::uint32_t name = 0;  // 0: the event has its number
    bool can_end = false;    // the trace has events of the end of such a call, or there is none
    // How many of the calls that begin so were seen to end, and how many not before the next of their task.
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
  std::map<std::pair<std::uint64_t, bool>, std::uint32_t> numbers_;  // with whether it is a 32-bit task's
  std::vector<Entry> stacks_;                                        // by StackId
  std::vector<Named> types_;                                         // by EventTypeId
  FlatMap<State> states_;                                            // by task
  std::set<std::int32_t> compat_at_begin_;                           // processes
  // Whether the program is a 32-bit one that a process executed, by time, from the first of those on.
  std::map<std::int32_t, std::map<std::uint64_t, bool>> widths_;
  std::map<std::int32_t, Executing> executing_;  // by process
  std::size_t lost_seen_ = 0;
};

}  // namespace kmt
