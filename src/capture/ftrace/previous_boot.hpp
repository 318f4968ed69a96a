// SPDX-License-Identifier: GPL-2.0-or-later
// Collects the events that a crashed boot left in a persistent ring buffer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capture/features/events.hpp"
#include "capture/ftrace/persistent.hpp"
#include "capture/session/recording.hpp"

namespace kmt {

// Facts about the boot that recorded the collected events.
struct PreviousBoot {
  bool described = false;     // true: the recorder left a description in the buffer
  bool is_this_boot = false;  // true: a recorder of the present boot was killed and left the events
  bool other_kernel = false;  // true: another kernel recorded the events, so functions have no names
  bool has_symbols = false;
  std::optional<unsigned> cleared_cpu;       // the boot CPU, if the kernel discarded its events
  std::vector<std::string> unknown_modules;  // modules of that boot that are not loaded now, so they have no symbols
};

// Throws Error if the instance has no events of the previous boot, or if something records into it now.
void check_previous_events(const PersistentInstance& instance);

// Reads and empties the buffer. Calls only the hook `described`. In the outcome, `seconds` is the time from the first
// to the last page. `events` are the events to describe if the recorder left no description.
RecordOutcome collect_previous_boot(const std::string& tracefs, const PersistentInstance& instance,
                                    const std::vector<EventName>& events, const std::string& scratch_directory,
                                    const RecordHooks& hooks, PreviousBoot& boot);

}  // namespace kmt
