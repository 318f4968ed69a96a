// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace's kprobe events. tracefs creates them for all instances. The group of a recording is named like its
// instance, so that any process can remove both together.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kmt {

// Returns "kmemtrace_1234_5678" for ".../instances/kmemtrace-1234-5678".
std::string probe_group_of(std::string_view instance);

// Passes a line to kprobe_events. Throws Error if the kernel refuses it.
void add_probe_event(const std::string& tracefs, const std::string& line);
// Returns the kernel's error message for the last refused line.
std::string last_refusal(const std::string& tracefs);

struct ProbeEvent {
  std::string group;
  std::string name;
  bool operator==(const ProbeEvent&) const = default;
};

// Parses kprobe_events and returns the event of each probe, in the order of creation.
std::vector<ProbeEvent> parse_probe_events(std::string_view text);

struct ProbeCounts {
  std::uint64_t hits = 0;    // number of times that the probe ran, in all tasks
  std::uint64_t missed = 0;  // number of times that the kernel skipped the probe, in all tasks
};
// Returns the counts of the group's probes in the order of creation. `events` is the text of kprobe_events. `profile`
// is the text of kprobe_profile, which does not state groups. Empty if the two texts do not match.
std::vector<ProbeCounts> parse_probe_counts(std::string_view events, std::string_view profile, std::string_view group);

// Returns how many starts and ends of calls the probes of one function missed. `probes` are the counts of the probe at
// the exit, the probe at the entry, and the probes that read values. If a call is missed completely, each probe counts
// it.
std::uint64_t missed_calls(std::span<const ProbeCounts> probes);

// Removes the probes of the group that no instance has enabled. Returns true if the group has no probes left.
bool remove_probe_events(const std::string& tracefs, const std::string& group);

}  // namespace kmt
