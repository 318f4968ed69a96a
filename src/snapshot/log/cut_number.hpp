// SPDX-License-Identifier: GPL-2.0-or-later
// Recognises numbers of a memory report that a mail program or terminal cut at the end of a line.
#pragma once

#include <string_view>

namespace kmt {

// True if the line certainly ends inside a number or its unit, and `next` starts with the rest. Both are messages
// without prefix. In a report, no number follows "active_anon:12", "3*64kB" or "= 12" directly.
bool continues_number(std::string_view line, std::string_view next);

// Removes a counter without a unit from the end of a text that has no line break at its end. The number may lack
// digits.
std::string_view without_cut_counter(std::string_view last_line);

}  // namespace kmt
