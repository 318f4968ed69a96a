// SPDX-License-Identifier: GPL-2.0-or-later
// Finds several copies of one kernel file in one text, as written by a loop around `cat /proc/meminfo`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kmt {

struct RepeatedCopy {
  std::string_view text;   // the last complete copy
  std::size_t number = 1;  // number of this copy in the text, from 1
  std::size_t copies = 1;  // number of copies in the text
};

// Returns the last copy of a file in a text. `source` is the name of the text in a snapshot, such as "meminfo".
RepeatedCopy last_copy(std::string_view source, std::string_view text);

// Keeps only the second state if the text is the output of diff with two states of a file. Returns a sentence that
// states this, or an empty string for other texts.
std::string keep_second_state(std::string& text);

// Keeps only the last copy, because numbers of several copies would be added up. Returns a sentence that states which
// copy was kept, or an empty string if the text has one copy.
std::string keep_last_copy(std::string_view source, std::string& text);

}  // namespace kmt
