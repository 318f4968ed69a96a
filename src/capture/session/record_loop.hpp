// SPDX-License-Identifier: GPL-2.0-or-later
// What all recorders do beside recording: wait for the end, sample, show progress, tell what programs had mapped.
#pragma once

#include <chrono>
#include <functional>

#include "capture/session/command.hpp"
#include "capture/session/recording.hpp"
#include "capture/sideband/user_memory.hpp"

namespace kmt {

struct LoopHooks {
  std::function<bool()> failed;    // nothing more can be written
  std::function<void()> sample;    // as often as was asked for; may be empty
  std::function<void()> look;      // a hundred times a second, a hundredth of the time at most; may be empty
  std::function<void()> progress;  // four times a second
  std::function<void(std::chrono::nanoseconds)> wait;  // that long
};

// From now on until the command ends, the time is over, or interrupted() says so.
RecordEnd record_until_end(const RecordRequest& request, const std::function<bool()>& interrupted, HeldCommand* command,
                           const LoopHooks& hooks);

// What the watch has not given yet, and what it does not know.
void tell_user_memory(UserMemoryWatch& watch, KernelDescription& kernel, RecordOutcome& outcome);

}  // namespace kmt
