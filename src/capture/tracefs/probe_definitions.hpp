// SPDX-License-Identifier: GPL-2.0-or-later
// Defines kprobe events that record calls of functions. For their syntax, see kprobe_events in
// Documentation/trace/kprobetrace.rst, Linux 6.12. docs/formats/kmt.md, "Types of calls", lists the recorded values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/recorded_calls.hpp"

namespace kmt {

// The names of a machine's registers in kprobe events (see regs_query_register_offset() in arch/*/kernel/ptrace.c).
struct ProbeMachine {
  std::vector<std::string_view> arguments;  // argument registers, in the order in which the ABI fills them
  std::string_view result;
  unsigned word_bits = 64;
  // True if an address shows whether it is a kernel or a user address. If false, memory to which an argument points is
  // read as user memory, and memory to which further pointers lead is read as kernel memory.
  bool has_user_memory = true;
};
// Returns the registers and properties of a machine that probes need. `machine` is the name as in uname -m. Returns
// nothing if its registers are unknown.
std::optional<ProbeMachine> probe_machine(std::string_view machine);

// Defines probes at the entry and the exit of each function. Many probes share an event. The functions are given by
// their addresses, because names may be ambiguous. Probes at addresses can read registers, but not `$arg1`. The order
// of definition matters: if the entry of a call is recorded, its exit must be recorded too. If several probes are at
// one address, the probe that was defined last runs first (add_new_kprobe() in kernel/kprobes.c). Therefore the records
// with values precede the record of their entry. Values have separate records, because the kernel silently drops
// records that are longer than a ring buffer page, and strings may be long. A string of any length has its own record,
// because only the size of a record with one string shows whether the string was empty or unreadable.
struct ProbeDefinition {
  std::string exit;                 // the line for kprobe_events that defines the probe at the exit
  std::string entry;                // the line for the probe at the entry
  std::vector<std::string> values;  // the lines for the probes that read values
};

// Returns the definitions of probes, in the order of the functions. `group` is the group of the events. If more than
// `open_calls` calls of a function are open, the kernel misses exits. Throws Error for a value that kprobes cannot
// record.
std::vector<ProbeDefinition> define_probes(const std::string& group, const std::vector<TracedFunction>& functions,
                                           const ProbeMachine& machine, unsigned open_calls);

}  // namespace kmt
