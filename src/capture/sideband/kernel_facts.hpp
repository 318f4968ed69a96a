// SPDX-License-Identifier: GPL-2.0-or-later
// Describes the running kernel, for a trace that is read elsewhere.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/features/events.hpp"
#include "trace/kernel_description.hpp"

namespace kmt {

// Returns facts that do not depend on tracing: names, page size, CPUs, notes.
KernelDescription describe_running_kernel();

// Returns the whole description except saved command lines and the clock's scale, for a recording with this instance
// and clock. Throws Error.
KernelDescription describe_kernel(const std::string& tracefs, const std::string& instance,
                                  const std::vector<EventName>& events, const std::string& clock);

// Returns the description of an unrecorded event that names the flags of allocations, which calls may have as
// arguments. May be empty.
std::optional<FormatText> describe_gfp_flags(const std::string& tracefs);

// Names and thread groups of tasks by thread ID, gathered over time: tasks stay, the latest name counts.
class Tasks {
 public:
  void scan_proc();                                     // /proc/PID/task/TID of all live tasks
  void add_saved_cmdlines(const std::string& tracefs);  // names that the tracer noted, also of dead tasks
  void describe(KernelDescription& kernel) const;       // saved_cmdlines and thread_groups

 private:
  std::map<int, std::string> names_;
  std::map<int, int> groups_;
};

}  // namespace kmt
