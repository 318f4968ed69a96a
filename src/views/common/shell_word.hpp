// SPDX-License-Identifier: GPL-2.0-or-later
// Writes commands that a user may copy into a shell.
#pragma once

#include <string>
#include <string_view>

namespace kmt {

// True if a text that is not empty has only ASCII letters, digits and the characters of `marks`.
bool is_plain(std::string_view text, std::string_view marks);
// Quotes a path for a POSIX shell. A path that starts with "-" must not look like an option.
std::string shell_word(const std::string& path);

}  // namespace kmt
