// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the document of `timeline --json`. docs/formats/timeline-json.md has its schema.
#pragma once

#include <string>

#include "results/report/timeline.hpp"

namespace kmt {

std::string json_timeline(const TimelineResult& result);

}  // namespace kmt
