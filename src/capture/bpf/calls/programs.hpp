// SPDX-License-Identifier: GPL-2.0-or-later
// The BPF programs that take calls of kernel functions into rings, attached in whichever way the kernel allows.
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
  // Loads and attaches to all functions, of which there is one at least; nothing is recorded before begin(). Of
  // `request` neither events nor stacks count; `shared` are those of the programs that take the events; `kallsyms` is
  // the text of /proc/kallsyms, which takes the kernel long to write. Where interrupted() says so, functions that are
  // not attached yet are left out. Throws Error, which says what the kernel refuses.
  CallPrograms(const RecordedCalls& calls, const ProgramsRequest& request, const SharedByPrograms& shared,
               std::string_view kallsyms, const std::function<bool()>& interrupted);
  CallPrograms(CallPrograms&&) noexcept;
  ~CallPrograms();

  void begin();
  void end();  // programs that run already go on: wait_for_running_programs()

  const std::string& backend() const;                   // in words: "BPF trampolines (fentry, fexit)"
  const std::string& reason() const;                    // why this one
  void add_rings(unsigned cpu, CpuRings& to) const;     // valid as long as this is
  MissedCounts missed() const;                          // entries and exits that no ring tells of, of any task
  const std::vector<RefusedFunction>& refused() const;  // functions whose calls are not recorded
  std::uint64_t ring_bytes() const;                     // of all rings

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt
