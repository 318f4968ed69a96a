// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a sampled heap profile as text.
#pragma once

#include <string>

#include "results/heap/profile.hpp"
#include "trace/code/symbol_names.hpp"
#include "views/text/style.hpp"

namespace kmt {

// Shows at most `limit` rows; 0 means all.
std::string text_heap_profile(const HeapProfileResult& result, const SymbolNames& symbols, std::size_t limit,
                              const TextStyle& style);

}  // namespace kmt
