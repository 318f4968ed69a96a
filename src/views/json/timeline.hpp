// SPDX-License-Identifier: GPL-2.0-or-later
// `timeline --json`: the schema of docs/formats/timeline-json.md.
#pragma once

#include <string>

#include "results/report/timeline.hpp"

namespace kmt {

std::string json_timeline(const TimelineResult& result);

}  // namespace kmt
