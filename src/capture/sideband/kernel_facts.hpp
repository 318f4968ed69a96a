// SPDX-License-Identifier: GPL-2.0-or-later
// What the running kernel says about itself, for a trace that is to be read elsewhere.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "capture/features/events.hpp"
#include "trace/kernel_description.hpp"

namespace kmt {

// The size in bytes of the pages that a ring buffer is read by, from the text of events/header_page; 0: unknown.
std::uint32_t sub_buffer_bytes(const std::string& header_page);

// All of the description but the saved command lines and the clock's scale, for a recording with this instance and
// clock. Throws Error.
KernelDescription describe_kernel(const std::string& tracefs, const std::string& instance,
                                  const std::vector<EventName>& events, const std::string& clock);

// False when every address in /proc/kallsyms reads as zero (kernel.kptr_restrict, or no permission).
bool has_addresses(const std::string& kallsyms);

// Task names by thread id, gathered over time: a name that was seen once is kept, the latest one wins.
class TaskNames {
 public:
  void scan_proc();                                     // /proc/PID/task/TID/comm of all that live now
  void add_saved_cmdlines(const std::string& tracefs);  // those the tracer noted, dead ones included
  std::string lines() const;                            // "TID COMM" lines

 private:
  std::map<int, std::string> names_;
};

}  // namespace kmt
