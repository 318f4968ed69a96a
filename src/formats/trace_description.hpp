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
  KernelDescription kernel;  // the host name and the architecture are in `uname`
  std::string uname;         // for example "Linux HOST 6.1.0-47-amd64 x86_64"
  // Each entry is a line "CPU: N" followed by the kernel's per_cpu/cpuN/stats. kmemtrace adds lines: "node: N" is the
  // CPU's NUMA node, "full rings: N" counts events dropped because a BPF program's ring was full, and "not recorded: N"
  // counts events that were still unread when the recorder had to stop. An entry without "CPU: N" has losses that
  // belong to no particular CPU, or the lines of inherited_findings().
  std::vector<std::string> cpu_stats;
  std::vector<StateSample> samples;  // sorted by time
  std::string repaired;              // data dropped by repairs, one line each; empty if never repaired
};

std::string uname_of(const KernelDescription& kernel);
// Sets the machine's names from the text of uname_of(). Does nothing if a name is missing.
void name_machine(std::string_view uname, KernelDescription& kernel);
// Returns one entry of cpu_stats.
std::string cpu_stats_of(const KernelDescription& kernel, unsigned cpu, const std::string& statistics);

// Returns findings that would be lost in a conversion, as an entry of cpu_stats for the converted trace. Its lines are
// "found: ID TIMES CPU DETAIL", with "-" if no particular CPU is affected. Empty if there are no such findings.
std::string inherited_findings(const Findings& findings);

// Anonymised traces may lack the values of a call's field. The name of such a field has this prefix in its format.
inline constexpr std::string_view kBlankField = "blank_";

// Copies the description of the machine and the recording to `info`. Adds findings for problems that the notes and the
// buffer statistics show. Large parts, such as the text of kallsyms, are moved out of `description`. Throws Error if
// the word size cannot be parsed from the page description.
void describe_machine(TraceDescription& description, TraceInfo& info);
// Adds the mappings of processes' code. Call this for each part of a trace in order.
void take_user_memory(UserMemory memory, TraceInfo& info);
// Does what describe_machine() does, for a trace of ring-buffer pages. Also throws Error if the page description is
// missing.
void describe_trace(TraceDescription& description, TraceInfo& info);

}  // namespace kmt
