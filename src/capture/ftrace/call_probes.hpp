// SPDX-License-Identifier: GPL-2.0-or-later
// Calls recorded by kprobe events with fetch arguments, which are enabled in an instance of our own only.
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
  // Makes the probes, which are gone when the instance is. Puts the calls' types and the events' formats into the
  // description. Throws Error.
  CallProbes(const std::string& tracefs, const TracefsInstance& instance, const RecordedCalls& calls,
             KernelDescription& kernel);

  // From now on calls are recorded, but for those of these threads. Throws Error.
  void enable(const std::vector<pid_t>& left_out) const;
  std::string name() const;  // "kprobe events, but not of …, where the kernel allows none"
  // Entries and exits that probes have missed since they were made, in all tasks, recorded or not: the kernel says no
  // more, and Linux 5.10 less (call_probes.cpp). Empty: its texts do not tell.
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
  std::vector<std::string> left_out_;  // that the kernel has refused them
};

}  // namespace kmt
