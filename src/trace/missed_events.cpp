// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/missed_events.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/number.hpp"
#include "base/text.hpp"
#include "trace/note_lines.hpp"

namespace kmt {

namespace {

constexpr std::size_t kMostIntervals = 65536;

}  // namespace

// Parses the note about missed events. Each line is "FROM TO COUNT" or "FROM TO COUNT FUNCTION".
std::vector<MissedEvents> parse_missed_events(std::string_view text) {
  std::vector<MissedEvents> all;
  while (!text.empty() && all.size() < kMostIntervals) {
    const auto words = split(take_line(text), ' ');
    MissedEvents missed;
    if (words.size() < 3 || !parse_number(words[0], missed.from_ns) || !parse_number(words[1], missed.to_ns) ||
        !parse_number(words[2], missed.count))
      continue;
    if (words.size() > 3) missed.function = words[3];
    all.push_back(std::move(missed));
  }
  std::ranges::stable_sort(all, {}, &MissedEvents::to_ns);
  return all;
}

std::string missed_events_text(const std::vector<MissedEvents>& missed) {
  std::string text;
  for (const MissedEvents& one : missed)
    text +=
        fmt::format("{} {} {}{}{}\n", one.from_ns, one.to_ns, one.count, one.function.empty() ? "" : " ", one.function);
  return text;
}

}  // namespace kmt
