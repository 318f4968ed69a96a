// SPDX-License-Identifier: GPL-2.0-or-later
// Kprobe events that record calls of functions, in the syntax of kprobe_events (Documentation/trace/kprobetrace.rst,
// Linux 6.12); docs/formats/kmt.md, "Types of calls", lists the recorded values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/recorded_calls.hpp"

namespace kmt {

// The names of a machine's registers in kprobe events (regs_query_register_offset() of its arch/*/kernel/ptrace.c).
struct ProbeMachine {
  std::vector<std::string_view> arguments;  // in the order in which the ABI fills them
  std::string_view result;
  unsigned word_bits = 64;
  // True if an address itself shows whether it belongs to the kernel or a program. Otherwise what an
  // argument points to is read as user memory, and what that points to as kernel memory.
  bool tells_user_memory = true;
};
// `machine` as in uname -m; empty for unknown registers.
std::optional<ProbeMachine> probe_machine(std::string_view machine);

// Each function has at least two probes, many of which share an event. Places are addresses: names may be ambiguous,
// and for addresses the kernel takes registers only, not `$arg1`. The order of definition matters. A call with a
// recorded entry must have its exit recorded too. The last of several probes at one place runs first (add_new_kprobe()
// of kernel/kprobes.c), so values are recorded before their entry. Values have records of their own, because the kernel
// silently drops records longer than a ring buffer page, and strings may be long. So has each string of any length,
// because only the size of a one-string record shows whether the string was empty or unreadable.
struct ProbeDefinition {
  std::string exit;                 // a line
  std::string entry;                // a line
  std::vector<std::string> values;  // lines
};

// `group` is the events' group. Exits are missed if more than `open_calls` calls of a function are open. Returns
// definitions in the order of the functions. Throws Error for a value that kprobes cannot record.
std::vector<ProbeDefinition> define_probes(const std::string& group, const std::vector<TracedFunction>& functions,
                                           const ProbeMachine& machine, unsigned open_calls);

}  // namespace kmt
