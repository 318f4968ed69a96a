// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/text/first_line.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "base/number.hpp"
#include "formats/text/partial_line.hpp"

namespace kmt::text {

bool starts_inside_name(std::string_view text, const Line& first, std::string_view second) {
  if (text.starts_with(' ') || !second.starts_with(' ') || first.comm.empty() || !first.buffer.empty()) return false;
  const auto next = parse_line(second);
  if (!next || next->comm.empty()) return false;
  const auto end_of_name = [](std::string_view of, const Line& line) {
    return line.comm.data() + line.comm.size() - of.data();
  };
  return end_of_name(text, first) < end_of_name(second, *next);
}

// A time that has lost all except its last N digits is at least 10^N earlier than the time of the next line.
bool starts_inside_time(std::string_view text, const Line& first, std::string_view second) {
  constexpr std::size_t kMostDigits = 9;
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || digits > kMostDigits || !first.has_time || !first.time_in_ns) return false;
  if (digits > 1 && text.front() == '0') return true;
  std::string fields;
  const bool has_seconds = parse_partial(text).has_value();
  if (has_seconds && !first.comm.empty()) return false;  // then the time is not at the start of the line
  const auto next = has_seconds ? parse_partial(second) : parse_perf_trace(second, fields);
  if (!next || !next->has_time || next->time < first.time) return false;
  std::uint64_t least = has_seconds ? 1'000'000'000 : 1'000'000;  // perf trace prints milliseconds
  for (std::size_t i = 0; i < digits; ++i) least *= 10;
  return next->time - first.time >= least;
}

}  // namespace kmt::text
