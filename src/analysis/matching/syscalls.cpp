// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/matching/syscalls.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "analysis/matching/event_filter.hpp"
#include "trace/code/function_name.hpp"
#include "trace/code/syscall_names.hpp"
#include "trace/note_lines.hpp"

namespace kmt {

namespace {

constexpr unsigned kMostAncestors = 1024;

// On x86, the end event of execve has the call number for the new program's word size: see __set_personality_ia32() and
// set_personality_64bit() in arch/x86/kernel/process_64.c. On other architectures, the end of execve does not show the
// word size.
constexpr std::uint64_t kExecve64 = 59;
constexpr std::uint64_t kExecveAt64 = 322;
constexpr std::uint64_t kExecve32 = 11;
constexpr std::uint64_t kExecveAt32 = 358;

bool is_execve(std::uint64_t number, bool compat) {
  return number == (compat ? kExecve32 : kExecve64) || number == (compat ? kExecveAt32 : kExecveAt64);
}

}  // namespace

Syscalls::Syscalls(const TraceInfo& info, const TraceTasks& tasks, const SymbolNames& symbols)
    : info_(info),
      tasks_(tasks),
      symbols_(symbols),
      compat_at_begin_(ids_in_note(info.recording.notes, "tasks_32_bit")) {}

std::uint32_t Syscalls::intern(std::string name) {
  const auto [known, is_new] = ids_.try_emplace(std::move(name), static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.push_back(known->first);
  return known->second;
}

void Syscalls::see(const Event& event) {
  if (event.kind != EventKind::other) count_end(event);
  const Named named = named_by(event.type);
  if (named.ends_task) see_end(event);
  if (event.kind == EventKind::other) return;
  if (event.kind == EventKind::syscall_enter && !named.can_end) {
    states_.erase(static_cast<std::uint32_t>(event.tid));
    return;
  }
  if (info_.machine.arch == "x86_64" && !named.is_named) {
    if (event.kind == EventKind::syscall_exit)
      note_width(event);
    else
      note_exec_of_thread(event);
  }
  const std::uint32_t name = named.is_named && named.name == 0 ? name_of(event.address, named.compat) : named.name;
  *states_.insert(static_cast<std::uint32_t>(event.tid)).first = {
      event.time_ns, event.address, event.kind == EventKind::syscall_enter, false, !named.is_named, name, event.type};
}

// Handles the event that reports the end of a task. If a system call ends the task, the task stays in that call.
void Syscalls::see_end(const Event& event) {
  const State* const state = state_of(event);
  if (state != nullptr && state->inside) return;
  State& ended = *states_.insert(static_cast<std::uint32_t>(event.tid)).first;
  ended = {};
  ended.since_ns = event.time_ns;
  ended.ended = true;
}

// If a task's latest event started a system call, counts whether this call has an end event before the current event.
void Syscalls::count_end(const Event& event) {
  const State* const state = last_state(event);
  if (state == nullptr || !state->inside) return;
  Named& begun = named_by(state->type);
  ++(event.kind == EventKind::syscall_exit ? begun.ended : begun.unended);
}

// True if a trace can contain the end of the system call that this event starts. Also true for exit and exit_group:
// these calls end with their task.
bool Syscalls::can_end(const EventType& begin, std::string_view name) const {
  if (name == "exit" || name == "exit_group") return true;
  return std::ranges::any_of(info_.tables.event_types, [&](const EventType& event) {
    if (event.kind != EventKind::syscall_exit) return false;
    if (name.empty() || event.system != begin.system) return true;
    const auto ends = syscall_of_event(event.name);
    return !ends || ends->name.empty() || ends->name == name;
  });
}

Syscalls::Named& Syscalls::named_by(EventTypeId type) {
  if (types_.size() <= type.value)
    types_.resize(std::max<std::size_t>(info_.tables.event_types.size(), type.value + 1u));
  Named& named = types_[type.value];
  if (std::exchange(named.known, true) || type.value >= info_.tables.event_types.size()) return named;
  const EventType& event = info_.tables.event_types[type.value];
  named.ends_task = event.system == "sched" && event.name == "sched_process_exit";
  const auto call = event.system == "syscalls" ? syscall_of_event(event.name) : std::nullopt;
  named.can_end = can_end(event, call ? call->name : std::string_view{});
  if (!call) return named;
  named.is_named = true;
  named.compat = call->compat;
  if (!call->name.empty()) named.name = intern(std::string(call->name));
  return named;
}

// Notes that a thread calls execve: if the call succeeds, this thread takes over the ID of the first thread of its
// process.
void Syscalls::note_exec_of_thread(const Event& event) {
  if (!is_execve(event.address, true) && !is_execve(event.address, false)) return;
  const Process process = process_at(tasks_, event.tid, event.time_ns);
  if (process.pid == event.tid) return;
  const bool compat = is_compat(process, event.time_ns);
  if (is_execve(event.address, compat)) executing_.insert_or_assign(process.pid, Executing{event.tid, compat});
}

void Syscalls::note_width(const Event& event) {
  // A successful execve ends with the ID of the process's first thread. This end event has the ID of the thread that
  // called execve, so the call has failed.
  std::erase_if(executing_, [&event](const auto& one) { return one.second.tid == event.tid; });
  if (event.address != kExecve32 && event.address != kExecve64) return;
  const bool is_32 = event.address == kExecve32;
  const State* const state = state_of(event);
  const bool inside = state != nullptr && state->inside;
  bool changed = inside && is_execve(state->number, !is_32);
  // If the first thread itself has begun an execve call, the end event is that of its own call.
  if (const auto other = executing_.find(event.tid);
      other != executing_.end() && !(inside && state->number == event.address)) {
    changed = changed || other->second.compat != is_32;
    executing_.erase(other);
  }
  if (changed) widths_[process_at(tasks_, event.tid, event.time_ns).pid][event.time_ns] = is_32;
}

// True if the process executes a 32-bit program. A child process starts with the program of its parent.
bool Syscalls::is_compat(Process process, std::uint64_t time_ns) const {
  if (widths_.empty() && compat_at_begin_.empty()) return false;
  for (unsigned steps = 0; steps < kMostAncestors; ++steps) {
    const std::uint64_t born_ns = process.life == nullptr ? 0 : process.life->born_ns;
    if (const auto found = widths_.find(process.pid); found != widths_.end()) {
      const auto later = found->second.upper_bound(time_ns);
      if (later != found->second.begin() && std::prev(later)->first >= born_ns) return std::prev(later)->second;
    }
    if (process.life == nullptr) return compat_at_begin_.contains(process.pid);
    time_ns = born_ns;
    process = process_at(tasks_, process.life->creator, born_ns);
  }
  return false;
}

std::uint32_t Syscalls::name_of(std::uint64_t number, bool compat) {
  std::uint32_t& known = numbers_[{number, compat}];
  if (known == 0) known = intern(syscall_name(info_.machine.arch, number, compat));
  return known;
}

// Returns the state after the previous event of a task. If events were lost, the end of a call or the start of a task
// may be missing. The system call of the task is then unknown until its next event.
Syscalls::State* Syscalls::last_state(const Event& event) {
  if (lost_seen_ != info_.losses.intervals.size()) {
    lost_seen_ = info_.losses.intervals.size();
    states_ = {};
  }
  State* const state = states_.find(static_cast<std::uint32_t>(event.tid));
  if (state == nullptr || event.tid == 0) return nullptr;
  const TaskLife* const life = tasks_.lives.life_at(event.tid, event.time_ns);
  return life != nullptr && life->born_ns >= state->since_ns ? nullptr : state;
}

// Returns the state of a task in this event. Returns null if most calls have no end event: ends were then not recorded,
// and it is unknown how long a task stays in a call.
Syscalls::State* Syscalls::state_of(const Event& event) {
  State* const state = last_state(event);
  if (state == nullptr || !state->inside) return state;
  const Named& begun = named_by(state->type);
  return begun.unended > begun.ended ? nullptr : state;
}

const Syscalls::Entry& Syscalls::entry_of(StackId stack) {
  using Kind = KernelEntry::Kind;
  if (stacks_.size() <= stack.value) stacks_.resize(info_.tables.stacks.size());
  Entry& entry = stacks_[stack.value];
  if (std::exchange(entry.known, true)) return entry;
  const auto frames = info_.tables.stacks[stack];
  bool dispatched = false;
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    // Starts with the outermost frames, which are the kernel's entry code. Some frames have a wrong name: if a function
    // ends with a call, the return address may already be in the next function.
    const std::string symbol = symbols_.name(*frame);
    if (symbol.empty() || symbol.starts_with("0x")) {  // address without a symbol
      entry.unnamed = true;
      if (dispatched) return entry;
      continue;
    }
    const KernelEntry found = kernel_entry(function_of(symbol));
    switch (found.kind) {
      case Kind::compat: entry.compat = dispatched = true; continue;
      case Kind::dispatcher: dispatched = true; continue;
      case Kind::way_back: dispatched = false; continue;
      case Kind::syscall: entry.syscall = intern(std::string(found.name)); return entry;
      case Kind::page_fault:
        entry.other = intern("[page fault]");
        dispatched = false;
        continue;  // the kernel ends the task inside the handler of the page fault
      case Kind::exit: entry.other = intern("[exit]"); return entry;
      case Kind::kernel_thread:
        // Tasks in user space also start in this function.
        if (entry.other == 0) entry.other = intern("[kernel thread]");
        continue;
      case Kind::doer:
      case Kind::none:
        if (!dispatched) continue;
        // A tail call leaves no frame, so the stack may lack the system call's function.
        entry.likely =
            intern(found.kind == Kind::doer ? std::string(found.name) : fmt::format("{}()", function_of(symbol)));
        return entry;
    }
  }
  // All outermost frames are entry code, so the entry code itself allocates the memory.
  if (dispatched) entry.likely = intern("[system call]");
  return entry;
}

std::uint32_t Syscalls::id_of(const Event& event) {
  if (const char* const interrupt = interrupt_name(event); interrupt != nullptr) return intern(interrupt);
  const Entry entry = event.stack.value == 0 ? Entry{} : entry_of(event.stack);
  if (entry.syscall != 0) return entry.syscall;
  State* const state = state_of(event);
  if (state != nullptr && state->inside) {
    if (entry.compat && state->has_number && !std::exchange(state->compat, true)) state->name = 0;
    if (state->name == 0)
      state->name = name_of(state->number,
                            state->compat || is_compat(process_at(tasks_, event.tid, event.time_ns), event.time_ns));
    return state->name;
  }
  if (entry.likely != 0) return entry.likely;
  if (entry.other != 0) return entry.other;
  if (event.tid == 0) return intern("[kernel thread]");  // idle task
  if (state != nullptr && state->ended) return intern("[exit]");
  if (state == nullptr && is_kernel_thread(tasks_, process_at(tasks_, event.tid, event.time_ns)))
    return intern("[kernel thread]");
  const bool has_stack = !entry.unnamed && !info_.tables.stacks[event.stack].empty();
  if (state == nullptr && !has_stack) return 0;
  // If each system call has an event type of its own, perhaps only some of these events were recorded.
  const bool has_all = has_stack || state->has_number;
  return intern(has_all ? "[outside of system calls]" : "[outside of recorded system calls]");
}

}  // namespace kmt
