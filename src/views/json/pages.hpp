// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the activity of the page allocator as JSON (docs/formats/pages-json.md), and how long tasks waited for memory
// (docs/formats/stalls-json.md).
#pragma once

#include <string>

#include "results/report/stalls.hpp"
#include "views/common/pages_options.hpp"

namespace kmt {

std::string json_pages(const PagesResult& result, const PagesOptions& options);
std::string json_stalls(const StallsResult& result, const PagesOptions& options);

}  // namespace kmt
