// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/report/missing_parts.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace kmt {

void add_missing_frees(const TraceInfo& info, const EventCounts& seen, ReportResult& result) {
  // With at least this number of allocations, a trace should contain a free.
  constexpr std::uint64_t kEnough = 100;
  std::array<std::uint64_t, 256> of_kind{};
  for (std::size_t type = 0; type < seen.of_type.size(); ++type)
    of_kind[static_cast<std::size_t>(info.tables.event_types[type].kind)] += seen.of_type[type];
  const auto count = [&of_kind](EventKind kind) { return of_kind[static_cast<std::size_t>(kind)]; };
  const auto check = [&](EventKind allocation, std::uint64_t frees, const char* missing) {
    if (count(allocation) >= kEnough && frees == 0) result.findings.add({Imperfection::no_frees_recorded, missing});
  };
  check(EventKind::kmalloc, count(EventKind::kfree), "kfree");
  check(EventKind::cache_alloc, count(EventKind::cache_free) + count(EventKind::kfree), "kmem_cache_free");
  check(EventKind::page_alloc, count(EventKind::page_free), "mm_page_free");
  check(EventKind::percpu_alloc, count(EventKind::percpu_free), "percpu_free_percpu");
  check(EventKind::vmap_alloc, count(EventKind::vmap_free), "free_vmap_area_noflush");
}

void add_missing_causes(const TraceInfo& info, const EventCounts& seen, ReportResult& result) {
  const auto asks = [&result](GroupKey key) { return std::ranges::find(result.by, key) != result.by.end(); };
  // perf record -g records kernel and user stacks together. If no stack has a user part, no program requested memory,
  // and nothing is missing.
  const bool took_both = info.format.starts_with("perf.data") && info.tables.stacks.kernel_stacks() > 0;
  if ((asks(GroupKey::dso) || asks(GroupKey::user_symbol)) && info.code.user.frames.empty() && !took_both)
    result.findings.add({Imperfection::no_user_stacks});
  if ((asks(GroupKey::dso) || asks(GroupKey::user_symbol) || asks(GroupKey::stack)) &&
      info.code.address_spaces.empty() && info.tables.stacks.user_stacks() > 0)
    result.findings.add({Imperfection::no_mappings});
  if (!asks(GroupKey::syscall) || info.tables.stacks.kernel_stacks() > 0) return;
  for (std::size_t type = 0; type < seen.of_type.size(); ++type)
    if (seen.of_type[type] > 0 && info.tables.event_types[type].kind == EventKind::syscall_exit) return;
  result.findings.add({Imperfection::no_syscalls});
}

}  // namespace kmt
