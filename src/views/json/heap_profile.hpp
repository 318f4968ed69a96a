// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a sampled heap profile as JSON (docs/formats/profile-json.md).
#pragma once

#include <string>

#include "results/heap/profile.hpp"
#include "trace/code/symbol_names.hpp"

namespace kmt {

std::string json_heap_profile(const HeapProfileResult& result, const SymbolNames& symbols);

}  // namespace kmt
