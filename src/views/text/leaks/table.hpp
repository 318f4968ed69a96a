// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the table of the groups of one allocator for `leaks`, and their stacks.
#pragma once

#include <string>

#include "views/text/leaks/rows.hpp"

namespace kmt {

// Returns the table as text. Empty if `extent` shows no group of the table.
std::string leak_table(const LeakTable& leaks, const LeaksResult& result, const LeaksOptions& options,
                       const LeaksExtent& extent, const TextStyle& style);

}  // namespace kmt
