// SPDX-License-Identifier: GPL-2.0-or-later
// What the running kernel says about itself, for a trace that is to be read elsewhere.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/features/events.hpp"
#include "trace/kernel_description.hpp"

namespace kmt {

// What is true of the machine whether or not it is traced: names, page size, CPUs, notes.
KernelDescription describe_running_kernel();

// All of the description but the saved command lines and the clock's scale, for a recording with this instance and
// clock. Throws Error.
KernelDescription describe_kernel(const std::string& tracefs, const std::string& instance,
                                  const std::vector<EventName>& events, const std::string& clock);

// Of an event that is not recorded, but whose description names the flags of allocations, which calls may be given.
// Empty: there is none.
std::optional<FormatText> describe_gfp_flags(const std::string& tracefs);

// Names and thread groups of tasks by thread id, gathered over time: what was seen once is kept, the latest wins.
class Tasks {
 public:
  void scan_proc();                                     // /proc/PID/task/TID of all that live now
  void add_saved_cmdlines(const std::string& tracefs);  // names the tracer noted, dead tasks' included
  void describe(KernelDescription& kernel) const;       // saved_cmdlines and thread_groups

 private:
  std::map<int, std::string> names_;
  std::map<int, int> groups_;
};

}  // namespace kmt
