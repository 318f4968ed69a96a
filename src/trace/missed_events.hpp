// SPDX-License-Identifier: GPL-2.0-or-later
// Events that the kernel says it has missed: it counts them, so who asks now and then knows when about.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kmt {

// Some time between the two, of any task.
struct MissedEvents {
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = 0;
  std::uint64_t count = 0;
  std::string function;  // its calls were missed; empty: any events were
};

// The note "missed" of docs/formats/kmt.md, by the ends; lines that are none are passed over.
std::vector<MissedEvents> parse_missed_events(std::string_view text);
std::string missed_events_text(const std::vector<MissedEvents>& missed);

}  // namespace kmt
