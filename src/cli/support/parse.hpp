// SPDX-License-Identifier: GPL-2.0-or-later
// Parses the values of options that several commands have. All functions throw Error, and the error has a hint.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "analysis/matching/event_filter.hpp"
#include "results/group.hpp"

namespace kmt {

// Parses numbers and ranges of numbers, such as "0,2-3".
std::set<unsigned> parse_cpu_list(std::string_view text);
// Parses task IDs: "1234,5678".
std::set<std::int32_t> parse_pid_list(std::string_view text);

// Splits all values at commas. Returns the parts in order.
std::vector<std::string> split_commas(const std::vector<std::string>& values);
// Parses values such as "812" or "812,813". Returns the IDs of the processes, which must exist.
std::vector<pid_t> parse_processes(const std::vector<std::string>& values);

// Parses a range of time "A,B" in seconds. A or B may be empty. A time that starts with "+" is relative to the first
// event of the trace.
TimeWindow parse_time_window(std::string_view text);

// A range of sizes in bytes: "64-128", "64-", "-4k" or "96". Both ends are included.
struct SizeRange {
  std::optional<std::uint64_t> least;
  std::optional<std::uint64_t> most;
};
SizeRange parse_size_range(std::string_view text);

// Parses a rate such as "64K/min", "1M/h" or "100". Units of time are s, min, h and d. Returns bytes per second. A size
// without a unit of time is a rate per second.
double parse_byte_rate(std::string_view text);

// Parses the keys of `report --by`, such as "cache,call-site".
std::vector<GroupKey> parse_group_keys(std::string_view text);
// Parses the keys for reports about live objects. They are the keys of `report --by` except lifetime, because live
// objects have no lifetime.
std::vector<GroupKey> parse_keys_of_live(std::string_view text);

}  // namespace kmt
