// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/support/parse_time.hpp"

#include <ctime>
#include <limits>

#include <time.h>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace kmt {

std::uint32_t parse_utc(const std::string& text) {
  for (const char* const form :
       {"%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%MZ", "%Y-%m-%dT%H:%M", "%Y-%m-%d"}) {
    std::tm time = {};
    const char* const end = strptime(text.c_str(), form, &time);
    if (end == nullptr || *end != '\0') continue;
    const std::tm parsed = time;
    // timegm() normalises the date: it converts a day that the month does not have, such as the 31st, into a day of the
    // next month. So the date is invalid if timegm() changed its fields.
    const std::time_t seconds = timegm(&time);
    if (time.tm_mday != parsed.tm_mday || time.tm_sec != parsed.tm_sec) break;
    if (seconds >= 0 && seconds <= std::numeric_limits<std::uint32_t>::max())
      return static_cast<std::uint32_t>(seconds);
  }
  throw Error(fmt::format("Not a time: \"{}\"", printable(text)))
      .hint("Write 2026-11-21, 2026-11-21T12:13 or 2026-11-21T12:13:14Z; times are UTC, from 1970 on");
}

}  // namespace kmt
