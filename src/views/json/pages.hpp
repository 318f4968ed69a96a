// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the activity of the page allocator as JSON (docs/formats/pages-json.md), and how long tasks waited for memory
// (docs/formats/stalls-json.md).
#pragma once

#include <string>

#include "results/report/stalls.hpp"
#include "views/common/pages_options.hpp"
#include "views/json/common.hpp"

namespace kmt {

std::string json_pages(const PagesResult& result, const PagesOptions& options);
std::string json_stalls(const StallsResult& result, const PagesOptions& options);
// Returns the part of json_stalls() that `timeline` has.
Json waits_to_json(const StallsResult& result);
Json wait_sums_to_json(const WaitSums& sums);
// Returns the first `most` groups; 0: all.
Json wait_groups_to_json(const std::vector<WaitGroup>& groups, std::size_t most);

}  // namespace kmt
