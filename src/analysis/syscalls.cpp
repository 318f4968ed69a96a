// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/syscalls.hpp"

#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "analysis/event_filter.hpp"
#include "trace/function_name.hpp"
#include "trace/note_lines.hpp"
#include "trace/syscall_names.hpp"

namespace kmt {

namespace {

constexpr unsigned kMostAncestors = 1024;

// A program that is executed has its own number of execve from then on: arch/x86/kernel/process_64.c,
// __set_personality_ia32() and set_personality_64bit(). Of no other architecture the end tells.
constexpr std::uint64_t kExecve64 = 59;
constexpr std::uint64_t kExecveAt64 = 322;
constexpr std::uint64_t kExecve32 = 11;
constexpr std::uint64_t kExecveAt32 = 358;

}  // namespace

Syscalls::Syscalls(const TraceInfo& info, const TraceInfo& tasks, const SymbolNames& symbols)
    : info_(info), tasks_(tasks), symbols_(symbols), compat_at_begin_(ids_in_note(info.notes, "tasks_32_bit")) {}

std::uint32_t Syscalls::intern(std::string name) {
  const auto [known, is_new] = ids_.try_emplace(std::move(name), static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.push_back(known->first);
  return known->second;
}

void Syscalls::see(const Event& event) {
  if (event.kind == EventKind::syscall_exit && info_.arch == "x86_64") note_width(event);
  *states_.insert(static_cast<std::uint32_t>(event.tid)).first = {event.time_ns, event.address,
                                                                  event.kind == EventKind::syscall_enter, 0};
}

void Syscalls::note_width(const Event& event) {
  if (event.address != kExecve32 && event.address != kExecve64) return;
  const State* const state = state_of(event);
  if (state == nullptr || !state->inside) return;
  const bool was_execve64 = state->number == kExecve64 || state->number == kExecveAt64;
  const bool was_execve32 = state->number == kExecve32 || state->number == kExecveAt32;
  if (!(event.address == kExecve32 ? was_execve64 : was_execve32)) return;
  widths_[process_at(tasks_, event.tid, event.time_ns).pid][event.time_ns] = event.address == kExecve32;
}

// A child begins as its parent is.
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
  if (known == 0) known = intern(syscall_name(info_.arch, number, compat));
  return known;
}

// Where events were lost an end may be missing, or a birth: nothing is known until a task tells again.
Syscalls::State* Syscalls::state_of(const Event& event) {
  if (lost_seen_ != info_.lost.size()) {
    lost_seen_ = info_.lost.size();
    states_ = {};
  }
  State* const state = states_.find(static_cast<std::uint32_t>(event.tid));
  if (state == nullptr || event.tid == 0) return nullptr;
  const TaskLife* const life = tasks_.lives.life_at(event.tid, event.time_ns);
  return life != nullptr && life->born_ns > state->since_ns ? nullptr : state;
}

const Syscalls::Entry& Syscalls::entry_of(StackId stack) {
  using Kind = KernelEntry::Kind;
  if (stacks_.size() <= stack.value) stacks_.resize(info_.stacks.size());
  Entry& entry = stacks_[stack.value];
  if (std::exchange(entry.known, true)) return entry;
  const auto frames = info_.stacks[stack];
  bool dispatched = false;
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    // The outermost frames are where the processor came in: the address behind a call, which may end its function.
    const std::string symbol = symbols_.name(*frame);
    const KernelEntry found = kernel_entry(function_of(symbol));
    switch (found.kind) {
      case Kind::compat: entry.compat = dispatched = true; continue;
      case Kind::dispatcher: dispatched = true; continue;
      case Kind::way_back: dispatched = false; continue;
      case Kind::syscall: entry.syscall = intern(std::string(found.name)); return entry;
      case Kind::page_fault: entry.other = intern("[page fault]"); return entry;
      case Kind::exit: entry.other = intern("[exit]"); return entry;
      case Kind::kernel_thread:
        // A user's task, too, begins there.
        if (entry.other == 0) entry.other = intern("[kernel thread]");
        continue;
      case Kind::doer:
      case Kind::none:
        if (!dispatched || symbol.empty()) continue;
        // A function that ends with a call jumps there, and has no frame any more.
        entry.likely =
            intern(found.kind == Kind::doer ? std::string(found.name) : fmt::format("[{}]", function_of(symbol)));
        return entry;
    }
  }
  return entry;
}

std::uint32_t Syscalls::id_of(const Event& event) {
  if (const char* const interrupt = interrupt_name(event); interrupt != nullptr) return intern(interrupt);
  const Entry entry = event.stack.value == 0 ? Entry{} : entry_of(event.stack);
  if (entry.syscall != 0) return entry.syscall;
  State* const state = state_of(event);
  if (state != nullptr && state->inside) {
    if (entry.compat) return name_of(state->number, true);
    if (state->name == 0)
      state->name = name_of(state->number, is_compat(process_at(tasks_, event.tid, event.time_ns), event.time_ns));
    return state->name;
  }
  if (entry.likely != 0) return entry.likely;
  if (entry.other != 0) return entry.other;
  if (event.tid == 0) return intern("[kernel thread]");  // idle
  if (state == nullptr && is_kernel_thread(tasks_, process_at(tasks_, event.tid, event.time_ns)))
    return intern("[kernel thread]");
  return state == nullptr && info_.stacks[event.stack].empty() ? 0 : intern("[outside of system calls]");
}

}  // namespace kmt
