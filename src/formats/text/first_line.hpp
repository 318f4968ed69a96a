// SPDX-License-Identifier: GPL-2.0-or-later
// Finds out whether a text starts in the middle of its first line, so that the first value of the line is cut off.
#pragma once

#include <string_view>

#include "formats/text/line.hpp"

namespace kmt::text {

// True if the first line probably starts inside the name of its task. ftrace, trace-cmd and perf align the names of all
// lines to the right.
bool starts_inside_name(std::string_view text, const Line& first, std::string_view second);

// True if the first line starts with its time, and this time has probably lost its first digits. `second` is the
// line after it.
bool starts_inside_time(std::string_view text, const Line& first, std::string_view second);

}  // namespace kmt::text
