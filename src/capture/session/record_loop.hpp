// SPDX-License-Identifier: GPL-2.0-or-later
// The common loop of all recorders: waits for the end, takes samples, shows progress, and gives out mappings of
// programs.
#pragma once

#include <chrono>
#include <functional>

#include "capture/session/command.hpp"
#include "capture/session/recording.hpp"
#include "capture/sideband/user_memory.hpp"

namespace kmt {

struct LoopHooks {
  std::function<bool()> failed;    // writing has failed
  std::function<void()> sample;    // at the requested interval; may be empty
  std::function<void()> look;      // a hundred times per second, a hundredth of the time at most; may be empty
  std::function<void()> progress;  // four times per second
  std::function<void(std::chrono::nanoseconds)> wait;  // for this time
};

// Runs until the command ends, the time is over, or interrupted() is true.
RecordEnd record_until_end(const RecordRequest& request, const std::function<bool()>& interrupted, HeldCommand* command,
                           const LoopHooks& hooks);

// Gives out the watch's remaining mappings, and reports what it missed.
void tell_user_memory(UserMemoryWatch& watch, KernelDescription& kernel, RecordOutcome& outcome);

}  // namespace kmt
