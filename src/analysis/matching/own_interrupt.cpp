// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/matching/own_interrupt.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "trace/code/function_name.hpp"

namespace kmt {

bool refills_bpf_memory(std::string_view frame) {
  const std::string_view function = function_of(frame);
  return function == "bpf_mem_refill" || function == "alloc_bulk";
}

bool is_for_interrupted_task(std::span<const std::uint64_t> stack, const SymbolNames& symbols) {
  return std::ranges::any_of(stack,
                             [&symbols](std::uint64_t frame) { return refills_bpf_memory(symbols.name(frame)); });
}

}  // namespace kmt
