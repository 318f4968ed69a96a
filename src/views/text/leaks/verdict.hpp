// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the first paragraph of `leaks`: whether memory grows, who allocated it, and what to do next.
#pragma once

#include <string>

#include "results/report/leaks.hpp"
#include "views/text/style.hpp"

namespace kmt {

std::string leaks_verdict(const LeaksResult& result, const TextStyle& style);

}  // namespace kmt
