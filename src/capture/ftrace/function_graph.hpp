// SPDX-License-Identifier: GPL-2.0-or-later
// ftrace's function_graph tracer, in an instance of our own (Linux 6.11 and later).
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
  // Sets up the instance, whose `tracing_on` is 0 and which must outlive this: its removal undoes changes outside it.
  // Puts the calls' types into the description, which has the formats of the tracer's events. Throws Error.
  FunctionGraph(const std::string& tracefs, const TracefsInstance& instance, const RecordedCalls& calls,
                KernelDescription& kernel);

  // Excludes calls of these threads. Throws Error.
  void leave_out(const std::vector<pid_t>& threads) const;
  const std::string& name() const { return name_; }  // "ftrace's function_graph, which records no arguments here"

 private:
  const TracefsInstance& instance_;
  std::string name_;
};

}  // namespace kmt
