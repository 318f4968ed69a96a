// SPDX-License-Identifier: GPL-2.0-or-later
// Parses values of options that several commands have. All functions throw Error with a hint.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "analysis/matching/event_filter.hpp"
#include "results/group.hpp"

namespace kmt {

// Parses numbers and ranges: "0,2-3".
std::set<unsigned> parse_cpu_list(std::string_view text);
// Parses task IDs: "1234,5678".
std::set<std::int32_t> parse_pid_list(std::string_view text);

// Returns the parts between commas of all values, in order.
std::vector<std::string> split_commas(const std::vector<std::string>& values);
// Returns IDs of existing processes, from values like "812" and "812,813".
std::vector<pid_t> parse_processes(const std::vector<std::string>& values);

// "A,B" in seconds. A or B may be empty. Times with "+" are relative to the first event of the trace.
struct TimeWindow {
  std::optional<TimeEdge> from;  // inclusive
  std::optional<TimeEdge> to;    // exclusive
};
TimeWindow parse_time_window(std::string_view text);

// "64-128", "64-", "-4k" or "96" in bytes. Both ends are included.
struct SizeRange {
  std::optional<std::uint64_t> least;
  std::optional<std::uint64_t> most;
};
SizeRange parse_size_range(std::string_view text);

// Parses "64K/min", "1M/h" or "100": bytes per s, min, h or d. Returns bytes per second. A size without a unit of time
// is per second.
double parse_byte_rate(std::string_view text);

// Parses keys of `report --by`: "cache,call-site".
std::vector<GroupKey> parse_group_keys(std::string_view text);
// Parses the same keys except lifetime, which live objects do not have.
std::vector<GroupKey> parse_keys_of_live(std::string_view text);

}  // namespace kmt
