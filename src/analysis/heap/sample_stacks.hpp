// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the allocation in a sample's stack.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "trace/code/symbol_names.hpp"
#include "trace/state/heap_sample.hpp"

namespace kmt {

// Returns the stack from the call site on. If the call site is unknown, the stack starts with the function that
// contains the tracepoint.
std::span<const std::uint64_t> stack_of_allocation(const HeapSample& sample, const SymbolNames& symbols);

template <typename Number>
void append_bytes(std::string& key, Number number) {
  key.append(reinterpret_cast<const char*>(&number), sizeof number);
}

// Returns a binary key of all properties that distinguish groups. Making names takes longer than making this key, so
// names are made only once per group.
std::string identity_of(const HeapSample& sample);

}  // namespace kmt
