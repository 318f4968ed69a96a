// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the notes of a trace. A note is a single value, a list of lines, or a list of task IDs.
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

// Returns the text of a note; empty if there is no such note. The text is valid as long as `notes`.
inline std::string_view note_in(const std::map<std::string, std::string>& notes, const std::string& name) {
  const auto note = notes.find(name);
  return note == notes.end() ? std::string_view() : std::string_view(note->second);
}

// Removes the first line from the text and returns it.
inline std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

// Returns the IDs in a note, where blanks separate them. Empty if there is no such note.
inline std::set<std::int32_t> ids_in_note(const std::map<std::string, std::string>& notes, const std::string& name) {
  std::set<std::int32_t> ids;
  for (const std::string_view word : split(note_in(notes, name), ' '))
    if (const auto id = parse_leading<std::int32_t>(word)) ids.insert(*id);
  return ids;
}

}  // namespace kmt
