// SPDX-License-Identifier: GPL-2.0-or-later
// The order in time that people give names by: before and after, t1 to t10.
#pragma once

#include <string>
#include <vector>

namespace kmt {

// Puts them into the order that they say: by words (before, start, begin, first, old, then others, then after, end,
// last, finish, new) and numbers. False, and unchanged, where they say none for all of them.
bool sort_by_time_said(std::vector<std::string>& names);

}  // namespace kmt
