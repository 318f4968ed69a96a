// SPDX-License-Identifier: GPL-2.0-or-later
// Records calls by kprobe events with fetch arguments, which are enabled only in an instance of our own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "capture/missed_log.hpp"
#include "capture/recorded_calls.hpp"
#include "capture/tracefs/tracefs.hpp"
#include "trace/kernel_description.hpp"

namespace kmt {

class CallProbes {
 public:
  // Creates the probes, which go with the instance. Puts the calls' types and the events' formats into the description.
  // Throws Error.
  CallProbes(const std::string& tracefs, const TracefsInstance& instance, const RecordedCalls& calls,
             KernelDescription& kernel);

  // Starts recording calls, except those of these threads. Throws Error.
  void enable(const std::vector<pid_t>& left_out) const;
  std::string name() const;  // "kprobe events, but not of …, where the kernel allows none"
  // Returns the entries and exits missed since the probes' creation, in all tasks, recorded or not: the kernel has no
  // better number, and Linux 5.10 a worse one (call_probes.cpp). Empty if the kernel's files disagree.
  std::optional<MissedCounts> missed() const;

 private:
  const std::string tracefs_;
  const TracefsInstance& instance_;
  std::string group_;
  struct Probed {
    std::string function;
    std::size_t probes = 0;
  };
  std::vector<Probed> functions_;      // in the order of their probes
  std::vector<std::string> left_out_;  // functions that the kernel has refused
};

}  // namespace kmt
