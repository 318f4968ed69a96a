// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the result of `timeline` as text.
#pragma once

#include <string>

#include "results/report/timeline.hpp"
#include "views/text/style.hpp"

namespace kmt {

std::string text_timeline(const TimelineResult& result, const TextStyle& style);

}  // namespace kmt
