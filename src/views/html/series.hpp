// SPDX-License-Identifier: GPL-2.0-or-later
// A page that shows long series of snapshots: memory over time with zoom, events, and growing memory.
#pragma once

#include <string>

namespace kmt {

// `overview` is the result of json_series_overview(). The page needs no other files.
std::string series_page(const std::string& overview);

}  // namespace kmt
