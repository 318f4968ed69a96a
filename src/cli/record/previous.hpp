// SPDX-License-Identifier: GPL-2.0-or-later
// Implements kmemtrace record --boot --previous, which collects the events of a crashed boot.
#pragma once

#include <optional>
#include <string>

#include "capture/ftrace/previous_boot.hpp"
#include "cli/record/request.hpp"

namespace kmt {

// Returns the instance with the events of the previous boot. If this boot is not prepared, prints kernel parameters on
// stdout and returns nothing. Throws Error if there are no events, or if other options conflict.
std::optional<PersistentInstance> previous_events_or_plan(const RecordOptions& options, const std::string& tracefs);

// Returns the events to describe if the recorder left no description in the buffer.
std::vector<EventName> likely_events(const std::string& tracefs);

// Prints what is known and what is unknown about the boot whose events were collected.
void say_previous_boot(const PreviousBoot& boot);

}  // namespace kmt
