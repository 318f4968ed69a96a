// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/heap/sample_stacks.hpp"

#include "trace/code/tracing_functions.hpp"

namespace kmt {

std::span<const std::uint64_t> stack_of_allocation(const HeapSample& sample, const SymbolNames& symbols) {
  const std::span<const std::uint64_t> stack = sample.stack;
  if (sample.call_site != 0 || stack.empty()) return without_tracing(stack, sample.call_site, symbols);
  // The first frame is the BPF program that recorded the sample. Its name may be anything, or missing.
  return without_tracing(stack.subspan(1), 0, symbols);
}

std::string identity_of(const HeapSample& sample) {
  std::string key;
  for (const std::uint64_t address : sample.stack) append_bytes(key, address);
  append_bytes(key, sample.call_site);
  append_bytes(key, sample.context);
  append_bytes(key, sample.context == AllocationContext::task ? sample.process : 0);
  append_bytes(key, sample.context == AllocationContext::task ? sample.cgroup : 0);
  append_bytes(key, sample.pages);
  if (sample.cache.empty()) append_bytes(key, sample.allocated);
  return key.append(sample.context == AllocationContext::task ? sample.comm : "").append(1, '\0').append(sample.cache);
}

}  // namespace kmt
