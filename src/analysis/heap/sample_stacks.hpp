// SPDX-License-Identifier: GPL-2.0-or-later
// The allocation that a sample's stack shows.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "trace/code/symbol_names.hpp"
#include "trace/state/heap_sample.hpp"

namespace kmt {

// From the call site on, where that is known; else from the function that has the tracepoint.
std::span<const std::uint64_t> stack_of_allocation(const HeapSample& sample, const SymbolNames& symbols);

template <typename Number>
void append_bytes(std::string& key, Number number) {
  key.append(reinterpret_cast<const char*>(&number), sizeof number);
}

// The bytes of all that tells groups apart, as the kernel gave it: names are made once a group.
std::string identity_of(const HeapSample& sample);

}  // namespace kmt
