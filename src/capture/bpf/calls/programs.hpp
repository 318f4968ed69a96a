// SPDX-License-Identifier: GPL-2.0-or-later
// The BPF programs that write calls of kernel functions into rings, attached in the best way that the kernel allows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "capture/bpf/cpu_rings.hpp"
#include "capture/bpf/record_programs.hpp"
#include "capture/missed_log.hpp"
#include "capture/recorded_calls.hpp"
#include "trace/calls/refused_functions.hpp"

namespace kmt {

class CallPrograms {
 public:
  // Loads and attaches to all functions, at least one; recording starts with begin(). Ignores events and stacks of
  // `request`; `shared` belongs to the programs for events; `kallsyms` is /proc/kallsyms, which is slow to read. If
  // interrupted() is true, the remaining functions are not attached. Throws Error with the kernel's refusal.
  CallPrograms(const RecordedCalls& calls, const ProgramsRequest& request, const SharedByPrograms& shared,
               std::string_view kallsyms, const std::function<bool()>& interrupted);
  CallPrograms(CallPrograms&&) noexcept;
  ~CallPrograms();

  void begin();
  void end();  // running programs continue: wait_for_running_programs()

  const std::string& backend() const;                   // in words: "BPF trampolines (fentry, fexit)"
  const std::string& reason() const;                    // reason for this choice
  void add_rings(unsigned cpu, CpuRings& to) const;     // valid as long as this object
  MissedCounts missed() const;                          // entries and exits missing in the rings, of any task
  const std::vector<RefusedFunction>& refused() const;  // functions whose calls are not recorded
  std::uint64_t ring_bytes() const;                     // of all rings

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt
