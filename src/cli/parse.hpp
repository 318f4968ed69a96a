// SPDX-License-Identifier: GPL-2.0-or-later
// Values of options that more than one command takes. All throw Error with a hint.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

namespace kmt {

// "0,2-3": numbers and ranges.
std::set<unsigned> parse_cpu_list(std::string_view text);
// "1234,5678": task ids.
std::set<std::int32_t> parse_pid_list(std::string_view text);

// "A,B" in seconds, either of which may be missing; "+" before one counts from the trace's first event.
struct TimeWindow {
  struct Edge {
    std::uint64_t ns = 0;
    bool relative = false;
    std::uint64_t on_clock(std::uint64_t first_ns) const;
  };
  std::optional<Edge> from;  // inclusive
  std::optional<Edge> to;    // exclusive
};
TimeWindow parse_time_window(std::string_view text);

}  // namespace kmt
