// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the order in time from names that people choose: before and after, t1 to t10.
#pragma once

#include <string>
#include <vector>

namespace kmt {

// Sorts the names by words and numbers. Words have the order: before, start, begin, first, old, then other words, then
// after, end, last, finish, new. Returns false and changes nothing if this does not order all names.
bool sort_by_time_in_names(std::vector<std::string>& names);

}  // namespace kmt
