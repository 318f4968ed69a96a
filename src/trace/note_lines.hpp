// SPDX-License-Identifier: GPL-2.0-or-later
// Notes: single ones, of several lines, or of several ids of tasks, of any size.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/number.hpp"
#include "base/text.hpp"

namespace kmt {

// Empty where there is no such note. It lives as long as the notes.
inline std::string_view note_in(const std::map<std::string, std::string>& notes, const std::string& name) {
  const auto note = notes.find(name);
  return note == notes.end() ? std::string_view() : std::string_view(note->second);
}

// Cuts the first line from the text.
inline std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

// Ids with blanks between them; none where there is no such note.
inline std::set<std::int32_t> ids_in_note(const std::map<std::string, std::string>& notes, const std::string& name) {
  std::set<std::int32_t> ids;
  for (const std::string_view word : split(note_in(notes, name), ' '))
    if (const auto id = parse_leading<std::int32_t>(word)) ids.insert(*id);
  return ids;
}

}  // namespace kmt
