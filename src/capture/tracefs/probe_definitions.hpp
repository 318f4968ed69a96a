// SPDX-License-Identifier: GPL-2.0-or-later
// Kprobe events that record calls of functions, in the words of kprobe_events (Documentation/trace/kprobetrace.rst,
// Linux 6.12): docs/formats/kmt.md, "Types of calls", says what they record.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/recorded_calls.hpp"

namespace kmt {

// What kprobe events call the registers of a machine (regs_query_register_offset() of its arch/*/kernel/ptrace.c).
struct ProbeMachine {
  std::vector<std::string_view> arguments;  // in the order in which the ABI fills them
  std::string_view result;
  unsigned word_bits = 64;
  // Whether an address tells by itself if it is of the kernel or of a program. Where it does not, what an argument
  // points to is read as a program's memory, and what lies behind that as the kernel's.
  bool tells_user_memory = true;
};
// `machine` as uname -m; empty: its registers are not known here.
std::optional<ProbeMachine> probe_machine(std::string_view machine);

// Each function has two probes or more, of which many share an event. Places are addresses: of names there may be
// several, and for addresses the kernel takes registers only, not `$arg1`. To be made in this order: of a call whose
// entry is seen the exit is, too; and of probes at one place the last one comes first (add_new_kprobe() of
// kernel/kprobes.c), so values are recorded before the entry that they belong to. They have records of their own,
// since the kernel drops, and does not count, what is longer than a page of the ring buffer, as strings may be; and so
// has each string of any length. Whether that is empty or could not be read a record of one string tells, too.
struct ProbeDefinition {
  std::string exit;                 // a line
  std::string entry;                // a line
  std::vector<std::string> values;  // lines
};

// `group` is that of the events. `open_calls`: so many calls of a function may be open at the same time before exits
// are missed. In the order of the functions. Throws Error for a value that cannot be recorded so.
std::vector<ProbeDefinition> define_probes(const std::string& group, const std::vector<TracedFunction>& functions,
                                           const ProbeMachine& machine, unsigned open_calls);

}  // namespace kmt
