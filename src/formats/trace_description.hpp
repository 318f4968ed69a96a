// SPDX-License-Identifier: GPL-2.0-or-later
// What trace.dat and .kmt files say of the traced machine, as it stands in the file, and what follows from it.
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
  // per_cpu/cpuN/stats behind a line "CPU: N". kmemtrace adds lines of its own: "node: N", the CPU's NUMA node,
  // "full rings: N", events for which rings of BPF programs had no room, and "not recorded: N", events that were left
  // when the recorder had to give up. Without the line "CPU: N" it is what was lost of no CPU in particular, and what
  // inherited_findings() gives.
  std::vector<std::string> cpu_stats;
  std::vector<StateSample> samples;  // by time
  std::string repaired;              // what repairs of the file left out, a line each; empty: it was never repaired
};

std::string uname_of(const KernelDescription& kernel);
// The other way round: names the machine as the text does, if it has them all.
void name_machine(std::string_view uname, KernelDescription& kernel);
// One of cpu_stats.
std::string cpu_stats_of(const KernelDescription& kernel, unsigned cpu, const std::string& statistics);

// What makes a trace incomplete or uncertain and cannot be seen in what it is converted to, as one of cpu_stats of
// that: a line "found: ID TIMES CPU DETAIL" each, with "-" for no CPU in particular. Empty: there is nothing of the
// kind.
std::string inherited_findings(const Findings& findings);

// In front of the name of a call's field, in its format, of which an anonymised trace has no values.
inline constexpr std::string_view kBlankField = "blank_";

// Fills the machine's part of the info, and the findings that the statistics give cause to. Throws Error when the
// description of the ring buffer's pages, which the word size comes from, cannot be parsed. Takes kallsyms and
// large, away.
void describe_machine(TraceDescription& description, TraceInfo& info);
// Adds to what the info knows of processes' code; a part of a trace after the other.
void take_user_memory(UserMemory memory, TraceInfo& info);
// The same of a trace that consists of such pages: throws Error, too, when their description is missing.
void describe_trace(TraceDescription& description, TraceInfo& info);

}  // namespace kmt
