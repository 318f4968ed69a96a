// SPDX-License-Identifier: GPL-2.0-or-later
// The BPF programs that write calls of kernel functions into rings. They are attached in the best way that the kernel
// allows.
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
  // Loads the programs and attaches them to all functions (at least one). Recording starts with begin(). Ignores the
  // events and stacks of `request`. `shared` is the state of the programs for events. `kallsyms` is the text of
  // /proc/kallsyms, which is slow to read. If interrupted() becomes true, the remaining functions are not attached.
  // Throws Error with the kernel's reason for refusing.
  CallPrograms(const RecordedCalls& calls, const ProgramsRequest& request, const SharedByPrograms& shared,
               std::string_view kallsyms, const std::function<bool()>& interrupted);
  CallPrograms(CallPrograms&&) noexcept;
  ~CallPrograms();

  void begin();
  void end();  // programs that are already running continue; see wait_for_running_programs()

  const std::string& backend() const;                // name for users, such as "BPF trampolines (fentry, fexit)"
  const std::string& reason() const;                 // reason for choosing this back end
  void add_rings(unsigned cpu, CpuRings& to) const;  // the rings are valid as long as this object exists
  // Returns the number of entries and exits, of all tasks, that the programs missed.
  MissedCounts missed() const;
  const std::vector<RefusedFunction>& refused() const;  // functions whose calls are not recorded
  std::uint64_t ring_bytes() const;                     // total size of all rings

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt
