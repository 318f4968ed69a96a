// SPDX-License-Identifier: GPL-2.0-or-later
// Calls recorded by kprobe events with fetch arguments, which are enabled in an instance of our own only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "capture/recorded_calls.hpp"
#include "capture/tracefs/tracefs.hpp"
#include "trace/kernel_description.hpp"

namespace kmt {

// Probes are enabled one by one.
constexpr std::size_t kMostProbedFunctions = 256;

// Of a function, in all tasks, recorded or not: the kernel says no more, and Linux 5.10 less (call_probes.cpp).
struct MissedCalls {
  std::string function;
  std::uint64_t entries = 0;  // and with them the exits: another probe was at work on that CPU
  std::uint64_t exits = 0;    // more calls were open at a time than the kernel keeps track of
};

class CallProbes {
 public:
  // Makes the probes, which are gone when the instance is. Puts the calls' types and the events' formats into the
  // description. Throws Error.
  CallProbes(const std::string& tracefs, const TracefsInstance& instance, const RecordedCalls& calls,
             KernelDescription& kernel);

  // From now on calls are recorded, but for those of these threads. Throws Error.
  void enable(const std::vector<pid_t>& left_out) const;
  std::string name() const;  // "kprobe events, but not of …, where the kernel allows none"
  std::optional<std::vector<MissedCalls>> missed() const;  // empty: the kernel's texts do not tell

 private:
  const std::string tracefs_;
  const TracefsInstance& instance_;
  std::string group_;
  std::vector<std::string> functions_;  // that have probes
  std::vector<std::string> left_out_;   // that the kernel has refused them
};

}  // namespace kmt
