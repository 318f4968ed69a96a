// SPDX-License-Identifier: GPL-2.0-or-later
// Records calls with ftrace's function_graph tracer, in kmemtrace's own instance (Linux 6.11 and later).
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "capture/recorded_calls.hpp"
#include "capture/tracefs/tracefs.hpp"
#include "trace/kernel_description.hpp"

namespace kmt {

class FunctionGraph {
 public:
  // Sets up the instance, whose `tracing_on` must be 0. The instance must outlive this object, because the destructor
  // undoes changes outside the instance. Adds the calls' types to the description, which already has the formats of the
  // tracer's events. Throws Error.
  FunctionGraph(const std::string& tracefs, const TracefsInstance& instance, const RecordedCalls& calls,
                KernelDescription& kernel);

  // Excludes the calls of these threads. Throws Error.
  void leave_out(const std::vector<pid_t>& threads) const;
  // name for users, such as "ftrace's function_graph, which records no arguments here"
  const std::string& name() const { return name_; }

 private:
  const TracefsInstance& instance_;
  std::string name_;
};

}  // namespace kmt
