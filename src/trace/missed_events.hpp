// SPDX-License-Identifier: GPL-2.0-or-later
// Events that the kernel reports as missed. The recorder reads the kernel's counter of missed events only at intervals.
// So it is only known between which two readings events were missed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kmt {

// The number of events, of all tasks, that were missed between two readings of the counter.
struct MissedEvents {
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = 0;
  std::uint64_t count = 0;
  std::string function;  // function whose calls were missed; empty: events of any kind
};

// Parses the note "missed" (docs/formats/kmt.md). Sorts the result by end time and skips invalid lines.
std::vector<MissedEvents> parse_missed_events(std::string_view text);
std::string missed_events_text(const std::vector<MissedEvents>& missed);

}  // namespace kmt
