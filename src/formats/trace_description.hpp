// SPDX-License-Identifier: GPL-2.0-or-later
// The traced machine's description in trace.dat and .kmt files, as stored, and conclusions from it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/kernel_description.hpp"
#include "trace/state/sample.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

struct TraceDescription {
  KernelDescription kernel;  // the names of the machine come from `uname`
  std::string uname;         // "Linux HOST 6.1.0-47-amd64 x86_64"
  // per_cpu/cpuN/stats after a line "CPU: N". kmemtrace adds lines of its own: "node: N", the CPU's NUMA node, "full
  // rings: N", events that found rings of BPF programs full, and "not recorded: N", events left when the recorder gave
  // up. Without the line "CPU: N" it has losses of no particular CPU, and the lines of inherited_findings().
  std::vector<std::string> cpu_stats;
  std::vector<StateSample> samples;  // by time
  std::string repaired;              // dropped by repairs, one line each; empty: never repaired
};

std::string uname_of(const KernelDescription& kernel);
// The inverse: names the machine as the text does, if all names are there.
void name_machine(std::string_view uname, KernelDescription& kernel);
// One of cpu_stats.
std::string cpu_stats_of(const KernelDescription& kernel, unsigned cpu, const std::string& statistics);

// Returns findings that a conversion would hide, as an entry of cpu_stats for the converted trace: lines "found: ID
// TIMES CPU DETAIL", with "-" for no particular CPU. Empty if there are none.
std::string inherited_findings(const Findings& findings);

// Prefix of a call's field, in its format, if an anonymised trace has no values of it.
inline constexpr std::string_view kBlankField = "blank_";

// Fills the machine's part of the info, and adds findings that the statistics show. Throws Error if the page
// description, which has the word size, cannot be parsed. Takes kallsyms away, which is large.
void describe_machine(TraceDescription& description, TraceInfo& info);
// Adds mappings of processes' code, one part of a trace after another.
void take_user_memory(UserMemory memory, TraceInfo& info);
// The same for a trace of such pages: also throws Error if their description is missing.
void describe_trace(TraceDescription& description, TraceInfo& info);

}  // namespace kmt
