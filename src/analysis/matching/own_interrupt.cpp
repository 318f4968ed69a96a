// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/matching/own_interrupt.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "trace/code/function_name.hpp"

namespace kmt {

bool is_for_interrupted_task(std::span<const std::uint64_t> stack, const SymbolNames& symbols) {
  return std::ranges::any_of(stack, [&symbols](std::uint64_t frame) {
    const std::string name = symbols.name(frame);
    const std::string_view function = function_of(name);
    return function == "bpf_mem_refill" || function == "alloc_bulk";
  });
}

}  // namespace kmt
