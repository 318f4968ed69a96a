// SPDX-License-Identifier: GPL-2.0-or-later
// Writes counts of memory events as JSON (docs/formats/stat-json.md).
#pragma once

#include <string>

#include "results/heap/stat.hpp"

namespace kmt {

// Returns the document, as a single line if `as_line` is true.
std::string json_stat(const StatResult& result, bool as_line);

}  // namespace kmt
