// SPDX-License-Identifier: GPL-2.0-or-later
// Describes the running kernel, for readers of the trace on other machines.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/features/events.hpp"
#include "trace/kernel_description.hpp"

namespace kmt {

// Returns the data that do not depend on tracing: names, page size, CPUs, notes.
KernelDescription describe_running_kernel();

// Returns the whole description for a recording with this instance and clock, except saved command lines and the
// clock's scale. Throws Error.
KernelDescription describe_kernel(const std::string& tracefs, const std::string& instance,
                                  const std::vector<EventName>& events, const std::string& clock);

// Returns the description of an event that is not recorded. It names the GFP flags, which may be arguments of calls.
// May be empty.
std::optional<FormatText> describe_gfp_flags(const std::string& tracefs);

// Collects names and thread groups of tasks by thread ID. Keeps ended tasks, and the latest name of each task.
class Tasks {
 public:
  void scan_proc();  // reads /proc/PID/task/TID of all live tasks
  // adds names that the tracer saved, including those of ended tasks
  void add_saved_cmdlines(const std::string& tracefs);
  void describe(KernelDescription& kernel) const;  // sets saved_cmdlines and thread_groups

 private:
  std::map<int, std::string> names_;
  std::map<int, int> groups_;
};

}  // namespace kmt
