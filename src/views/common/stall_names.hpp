// SPDX-License-Identifier: GPL-2.0-or-later
// Names of stalls, for text and JSON.
#pragma once

#include <string_view>

#include "results/report/stalls.hpp"

namespace kmt {

std::string_view name_of(StallKind kind);  // "direct reclaim"
std::string_view key_of(StallKind kind);   // the same for JSON: "direct_reclaim"
std::string_view name_of(Scanner scanner);
std::string_view key_of(Scanner scanner);

}  // namespace kmt
