// SPDX-License-Identifier: GPL-2.0-or-later
// Counts of memory events as JSON (docs/formats/stat-json.md).
#pragma once

#include <string>

#include "results/heap/stat.hpp"

namespace kmt {

// `as_line`: no line breaks except the last.
std::string json_stat(const StatResult& result, bool as_line);

}  // namespace kmt
