// SPDX-License-Identifier: GPL-2.0-or-later
// Writes counts of memory events as JSON (docs/formats/stat-json.md).
#pragma once

#include <string>

#include "results/heap/stat.hpp"

namespace kmt {

// If `as_line` is true, the document is a single line.
std::string json_stat(const StatResult& result, bool as_line);

}  // namespace kmt
