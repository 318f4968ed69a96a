// SPDX-License-Identifier: GPL-2.0-or-later
// Describes the traced machine as stored in trace.dat and .kmt files, and derives facts for the trace info.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/kernel_description.hpp"
#include "trace/state/sample.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

struct TraceDescription {
  KernelDescription kernel;  // without the host name and the architecture, which are in `uname`
  std::string uname;         // for example "Linux HOST 6.1.0-47-amd64 x86_64"
  // Each entry is a line "CPU: N" followed by the kernel's per_cpu/cpuN/stats. kmemtrace adds lines: "node: N" is the
  // CPU's NUMA node, "full rings: N" counts events dropped because a BPF program's ring was full, and "not recorded: N"
  // counts events that were still unread when the recorder had to stop. An entry without "CPU: N" has losses that
  // belong to no particular CPU, or the lines of inherited_findings().
  std::vector<std::string> cpu_stats;
  std::vector<StateSample> samples;  // sorted by time
  // One line for each range that a repair dropped; empty if the trace was never repaired.
  std::string repaired;
};

std::string uname_of(const KernelDescription& kernel);
// Sets the machine's names from the text of uname_of(). Does nothing if a name is missing.
void name_machine(std::string_view uname, KernelDescription& kernel);
// Returns an entry for cpu_stats.
std::string cpu_stats_of(const KernelDescription& kernel, unsigned cpu, const std::string& statistics);

// Returns findings that would be lost in a conversion, as an entry of cpu_stats for the converted trace. Its lines are
// "found: ID TIMES CPU DETAIL", with "-" if no particular CPU is affected. Empty if there are no such findings.
std::string inherited_findings(const Findings& findings);

// Anonymising a trace removes the values of calls. In the event's format, the name of a field without values gets this
// prefix.
inline constexpr std::string_view kBlankField = "blank_";

// Copies the description of the machine and the recording to `info`. Adds findings for problems that the notes and the
// buffer statistics show. Large parts, such as the text of kallsyms, are moved out of `description`. Throws Error if
// the word size cannot be parsed from the page description.
void describe_machine(TraceDescription& description, TraceInfo& info);
// Adds code mappings of processes to `info`. If a trace has them in several parts, call this for each part, in order.
void take_user_memory(UserMemory memory, TraceInfo& info);
// Does the same as describe_machine(), for a trace that needs the description of ring-buffer pages. Also throws Error
// if this description is missing.
void describe_trace(TraceDescription& description, TraceInfo& info);

}  // namespace kmt
