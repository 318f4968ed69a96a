// SPDX-License-Identifier: GPL-2.0-or-later
// Sorts files by time if people named them so that the names show the order, such as before and after, or t1 to t10.
#pragma once

#include <string>
#include <vector>

namespace kmt {

// Sorts the names by the words and numbers in them. The words "before", "start", "begin", "first" and "old" come first,
// then other words, then "after", "end", "last", "finish" and "new". If this does not give a unique order, returns
// false and changes nothing.
bool sort_by_time_in_names(std::vector<std::string>& names);

}  // namespace kmt
