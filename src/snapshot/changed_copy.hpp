// SPDX-License-Identifier: GPL-2.0-or-later
// Undoes what editors, diff and loops around `cat /proc/meminfo` do to copies of kernel files.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

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

// True if the text starts with the byte order mark of UTF-16, as programs on Windows write it.
bool is_utf16(std::string_view text);

// Removes carriage returns, byte order marks and non-breaking blanks, which editors and web pages add to copies.
// Converts UTF-16 to ASCII.
void remove_editors_changes(std::string& text);

// True if most lines have a prefix: the name of a file or the number of the line, as grep and `cat -n` write them.
bool has_prefixes(std::string_view text);
// Returns the lines without these prefixes.
std::string without_prefixes(std::string_view text);

// Undoes all changes. Keeps only the second state of a diff, and the last of several copies, because their numbers
// would be added up. Returns sentences that state what was kept.
std::vector<std::string> undo_changes(std::string_view source, std::string& text);

}  // namespace kmt
