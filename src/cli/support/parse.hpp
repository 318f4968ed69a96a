// SPDX-License-Identifier: GPL-2.0-or-later
// Values of options that more than one command takes. All throw Error with a hint.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "analysis/matching/event_filter.hpp"
#include "results/group.hpp"

namespace kmt {

// "0,2-3": numbers and ranges.
std::set<unsigned> parse_cpu_list(std::string_view text);
// "1234,5678": task ids.
std::set<std::int32_t> parse_pid_list(std::string_view text);

// The parts of values between commas, in order.
std::vector<std::string> split_commas(const std::vector<std::string>& values);
// IDs of existing processes, from values like "812" and "812,813".
std::vector<pid_t> parse_processes(const std::vector<std::string>& values);

// "A,B" in seconds; one may be missing; "+" counts from the trace's first event.
struct TimeWindow {
  std::optional<TimeEdge> from;  // inclusive
  std::optional<TimeEdge> to;    // exclusive
};
TimeWindow parse_time_window(std::string_view text);

// "64-128", "64-", "-4k", "96": bytes, both ends inclusive.
struct SizeRange {
  std::optional<std::uint64_t> least;
  std::optional<std::uint64_t> most;
};
SizeRange parse_size_range(std::string_view text);

// "64K/min", "1M/h", "100": bytes per s, min, h or d; a bare size is per second.
double parse_byte_rate(std::string_view text);

// "cache,call-site": keys of `report --by`.
std::vector<GroupKey> parse_group_keys(std::string_view text);
// The same without lifetime, which live objects do not have.
std::vector<GroupKey> parse_keys_of_live(std::string_view text);

}  // namespace kmt
