// SPDX-License-Identifier: GPL-2.0-or-later
// The main loop of all recorders. It waits for the end, takes samples, shows progress, and passes on mappings of
// programs.
#pragma once

#include <chrono>
#include <functional>

#include "capture/session/command.hpp"
#include "capture/session/recording.hpp"
#include "capture/sideband/user_memory.hpp"

namespace kmt {

struct LoopHooks {
  std::function<bool()> failed;    // true if writing has failed
  std::function<void()> sample;    // called at the requested interval; may be empty
  std::function<void()> look;      // called up to 100 times per second, for at most 1 % of the time; may be empty
  std::function<void()> progress;  // called four times per second
  std::function<void(std::chrono::nanoseconds)> wait;  // waits for the given time
};

// Runs until the command ends, the time is over, or interrupted() is true.
RecordEnd record_until_end(const RecordRequest& request, const std::function<bool()>& interrupted, HeldCommand* command,
                           const LoopHooks& hooks);

// Passes on the remaining mappings of `watch`, and reports the mappings that it missed.
void tell_user_memory(UserMemoryWatch& watch, KernelDescription& kernel, RecordOutcome& outcome);

}  // namespace kmt
