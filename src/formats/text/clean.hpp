// SPDX-License-Identifier: GPL-2.0-or-later
// Removes from a line of a trace what logs, mail programs, web pages and terminals add to it.
#pragma once

#include <string>
#include <string_view>

namespace kmt::text {

// Replaces HTML entities such as &lt; &#39; and &#x27;
std::string without_entities(std::string_view text);

// Removes the prefixes of a kernel log: "[   13.882123][    T1] ", "<0>", "Nov 28 01:40:18 host kernel: " and similar.
std::string_view without_log_prefix(std::string_view line);

// Removes marks of quotes and patches, line ends, numbers of lines, colours and the prefixes of a log. Replaces tabs,
// non-breaking blanks and HTML entities. Returns a view of `line` or of `buffer`.
std::string_view clean_line(std::string_view line, std::string& buffer);

}  // namespace kmt::text
