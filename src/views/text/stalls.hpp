// SPDX-License-Identifier: GPL-2.0-or-later
// Writes how long tasks waited for memory as text.
#pragma once

#include <string>

#include "results/report/stalls.hpp"
#include "views/common/pages_options.hpp"
#include "views/text/style.hpp"

namespace kmt {

std::string text_stalls(const StallsResult& result, const PagesOptions& options, const TextStyle& style);

}  // namespace kmt
