// SPDX-License-Identifier: GPL-2.0-or-later
// Records calls with kprobe events and fetch arguments. The events are enabled only in kmemtrace's own instance.
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
  // Creates the probes, which are removed with the instance. Adds the calls' types and the events' formats to the
  // description. Throws Error.
  CallProbes(const std::string& tracefs, const TracefsInstance& instance, const RecordedCalls& calls,
             KernelDescription& kernel);

  // Starts recording calls of all threads except those in `omitted`. Throws Error.
  void enable(const std::vector<pid_t>& omitted) const;
  std::string name() const;  // for users: "kprobe events, but not for …, because the kernel allows no probe there"
  // Returns how many entries and exits were missed since the probes were created. Includes tasks that are not recorded,
  // because the kernel counts for all tasks together. Linux 5.10 does not count all of them (see call_probes.cpp).
  // Empty if the kernel's files contradict each other.
  std::optional<MissedCounts> missed() const;

 private:
  const std::string tracefs_;
  const TracefsInstance& instance_;
  std::string group_;
  struct Probed {
    std::string function;
    std::size_t probes = 0;
  };
  std::vector<Probed> functions_;     // functions in the order of their probes
  std::vector<std::string> omitted_;  // functions that the kernel has refused
};

}  // namespace kmt
