// SPDX-License-Identifier: GPL-2.0-or-later
// Writes one frame of `top` as JSON (docs/formats/top-json.md).
#pragma once

#include <string>

#include "results/heap/top.hpp"
#include "trace/code/symbol_names.hpp"

namespace kmt {

// Returns a single line.
std::string json_top(const TopResult& result, const SymbolNames& symbols);

}  // namespace kmt
