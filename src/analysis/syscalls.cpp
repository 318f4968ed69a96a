// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/syscalls.hpp"

#include <utility>

#include "analysis/event_filter.hpp"
#include "trace/function_name.hpp"
#include "trace/processes.hpp"
#include "trace/syscall_names.hpp"

namespace kmt {

Syscalls::Syscalls(const TraceInfo& info, const TraceInfo& tasks, const SymbolNames& symbols)
    : info_(info), tasks_(tasks), symbols_(symbols) {}

std::uint32_t Syscalls::intern(std::string name) {
  const auto [known, is_new] = ids_.try_emplace(std::move(name), static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.push_back(known->first);
  return known->second;
}

void Syscalls::see(const Event& event) {
  *states_.insert(static_cast<std::uint32_t>(event.tid)).first = {event.time_ns, event.address,
                                                                  event.kind == EventKind::syscall_enter};
}

// Where events were lost an end may be missing, or a birth: nothing is known until a task tells again.
const Syscalls::State* Syscalls::state_of(const Event& event) {
  if (lost_seen_ != info_.lost.size()) {
    lost_seen_ = info_.lost.size();
    states_ = {};
  }
  const State* const state = states_.find(static_cast<std::uint32_t>(event.tid));
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
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    // The outermost frames are where the processor came in: the address behind a call, which may end its function.
    const std::string symbol = symbols_.name(*frame);
    const KernelEntry found = kernel_entry(function_of(symbol));
    switch (found.kind) {
      case Kind::none: continue;
      case Kind::compat: entry.compat = true; continue;
      case Kind::syscall: entry.syscall = intern(std::string(found.name)); return entry;
      case Kind::page_fault: entry.other = intern("[page fault]"); return entry;
      case Kind::exit: entry.other = intern("[exit]"); return entry;
      case Kind::kernel_thread:
        // A user's task, too, begins there.
        if (entry.other == 0) entry.other = intern("[kernel thread]");
        continue;
    }
  }
  return entry;
}

std::uint32_t Syscalls::id_of(const Event& event) {
  if (const char* const interrupt = interrupt_name(event); interrupt != nullptr) return intern(interrupt);
  const Entry entry = event.stack.value == 0 ? Entry{} : entry_of(event.stack);
  if (entry.syscall != 0) return entry.syscall;
  const State* const state = state_of(event);
  if (state != nullptr && state->inside) {
    std::uint32_t& known = numbers_[{state->number, entry.compat}];
    if (known == 0) known = intern(syscall_name(info_.arch, state->number, entry.compat));
    return known;
  }
  if (entry.other != 0) return entry.other;
  if (event.tid == 0) return intern("[kernel thread]");  // idle
  if (state == nullptr && is_kernel_thread(tasks_, process_at(tasks_, event.tid, event.time_ns)))
    return intern("[kernel thread]");
  return state == nullptr && info_.stacks[event.stack].empty() ? 0 : intern("[outside of system calls]");
}

}  // namespace kmt
