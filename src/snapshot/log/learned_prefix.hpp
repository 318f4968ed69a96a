// SPDX-License-Identifier: GPL-2.0-or-later
// Learns prefixes of unknown forms, such as "node-1 | " and "messages:8000:", from lines whose message is known.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kmt {

// A prefix, and the source of the messages with this prefix.
struct LearnedPrefix {
  std::string form;  // the prefix; other lines may have other digits and blanks in it
  std::string source;
};

class LearnedPrefixes {
 public:
  // Learns a prefix from a line with a known message, and checks it with the lines that follow. without_prefix() must
  // have removed prefixes of known forms from all lines.
  void learn(const std::vector<std::string>& lines);
  // Removes a learned prefix from the front of the text. Returns the word of the prefix that names the machine or
  // program, such as "node-1". Empty if the text has no learned prefix, or if the log has only one source.
  std::string_view take(std::string_view& text) const;

 private:
  std::vector<LearnedPrefix> prefixes_;
  bool has_sources_ = false;  // true: the log has messages of several sources
};

// Returns the prefix of a line whose message is "Mem-Info:" or another message that every report has. Empty for other
// lines, and if there is no prefix.
std::string_view prefix_of_known_message(std::string_view line);

}  // namespace kmt
