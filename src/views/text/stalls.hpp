// SPDX-License-Identifier: GPL-2.0-or-later
// Writes how long tasks waited for memory as text.
#pragma once

#include <string>

#include "results/report/stalls.hpp"
#include "views/common/pages_options.hpp"
#include "views/text/style.hpp"

namespace kmt {

// Returns the table of the longest waits; empty if there are none.
std::string longest_waits(const StallsResult& result, const PagesOptions& options, const TextStyle& style);
std::string text_stalls(const StallsResult& result, const PagesOptions& options, const TextStyle& style);

}  // namespace kmt
