// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/sample_stacks.hpp"

#include <algorithm>

#include "trace/tracing_functions.hpp"

namespace kmt {

std::span<const std::uint64_t> stack_of_allocation(const HeapSample& sample, const SymbolNames& symbols) {
  const std::span<const std::uint64_t> stack = sample.stack;
  if (sample.call_site != 0) {
    const auto caller = std::ranges::find(stack, sample.call_site);
    if (caller != stack.end()) return stack.subspan(static_cast<std::size_t>(caller - stack.begin()));
  }
  const auto behind_program = stack.subspan(std::min<std::size_t>(stack.size(), 1));
  return behind_program.subspan(leading_tracing_frames(behind_program, symbols));
}

std::string identity_of(const HeapSample& sample) {
  std::string key;
  for (const std::uint64_t address : sample.stack) append_bytes(key, address);
  append_bytes(key, sample.call_site);
  append_bytes(key, sample.context);
  append_bytes(key, sample.context == AllocationContext::task ? sample.process : 0);
  append_bytes(key, sample.cgroup);
  append_bytes(key, sample.pages);
  if (sample.cache.empty()) append_bytes(key, sample.allocated);
  return key.append(sample.context == AllocationContext::task ? sample.comm : "").append(1, '\0').append(sample.cache);
}

}  // namespace kmt
