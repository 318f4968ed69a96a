// SPDX-License-Identifier: GPL-2.0-or-later
// Our kprobe events, which tracefs creates for all instances. The group of a recording has its instance's name, so that
// both are removed together, whatever process does it.
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

// Parses kprobe_events: each probe's event, in the order of creation.
std::vector<ProbeEvent> parse_probe_events(std::string_view text);

struct ProbeCounts {
  std::uint64_t hits = 0;    // of all tasks
  std::uint64_t missed = 0;  // likewise
};
// Counts of the group's probes, in the order of creation, from kprobe_events and kprobe_profile. The latter has no
// groups. Empty if the texts do not match.
std::vector<ProbeCounts> parse_probe_counts(std::string_view events, std::string_view profile, std::string_view group);

// Returns the starts and ends of one function's calls that its probes missed: those of exit, entry, and values if any.
// Each probe counts a call that is missed completely.
std::uint64_t missed_calls(std::span<const ProbeCounts> probes);

// Removes probes that no instance has enabled. True if none is left.
bool remove_probe_events(const std::string& tracefs, const std::string& group);

}  // namespace kmt
