// SPDX-License-Identifier: GPL-2.0-or-later
// Writes counts of memory events as text.
#pragma once

#include <string>

#include "results/heap/stat.hpp"
#include "views/text/style.hpp"

namespace kmt {

std::string text_stat(const StatResult& result, const TextStyle& style);

}  // namespace kmt
