// SPDX-License-Identifier: GPL-2.0-or-later
// The time order in names that people choose: before and after, t1 to t10.
#pragma once

#include <string>
#include <vector>

namespace kmt {

// Sorts by words (before, start, begin, first, old, then others, then after, end, last, finish, new) and numbers.
// False, and unchanged, if they do not order all names.
bool sort_by_time_said(std::vector<std::string>& names);

}  // namespace kmt
