// SPDX-License-Identifier: GPL-2.0-or-later
// Kprobe events of our own, which are made in tracefs for all instances: those of a recording have a group that is
// named as its instance is, so that they go when it goes, whoever removes it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kmt {

// "kmemtrace_1234_5678" of ".../instances/kmemtrace-1234-5678".
std::string probe_group_of(std::string_view instance);

struct ProbeEvent {
  std::string group;
  std::string name;
  bool operator==(const ProbeEvent&) const = default;
};

// From the text of kprobe_events: of each probe its event, in the order in which they were made.
std::vector<ProbeEvent> parse_probe_events(std::string_view text);

struct ProbeCounts {
  std::uint64_t hits = 0;    // of all tasks
  std::uint64_t missed = 0;  // likewise
};
// Of the group's probes, in the order in which they were made: from the texts of kprobe_events and kprobe_profile, of
// which the second names no groups. Empty where the texts do not belong together.
std::vector<ProbeCounts> parse_probe_counts(std::string_view events, std::string_view profile, std::string_view group);

// Begins and ends of calls of one function that its probes have missed: that of the exit, of the entry, and of what is
// read then, if any. A call that is missed as a whole is missed by each.
std::uint64_t missed_calls(std::span<const ProbeCounts> probes);

// Removes those that are enabled nowhere. True when none is left.
bool remove_probe_events(const std::string& tracefs, const std::string& group);

}  // namespace kmt
