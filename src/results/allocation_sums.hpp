// SPDX-License-Identifier: GPL-2.0-or-later
// Counters of allocations and frees. Rows of groups, allocators, tables and fleets all have them.
#pragma once

#include <array>
#include <cstdint>

namespace kmt {

struct AllocationSums {
  std::uint64_t allocations = 0;
  std::uint64_t failed_allocations = 0;
  std::uint64_t bytes_requested = 0;
  std::uint64_t bytes_allocated = 0;
  std::uint64_t matched_frees = 0;  // number of frees of these allocations
  std::uint64_t bytes_freed = 0;
  std::uint64_t live_allocations = 0;
  std::uint64_t live_bytes = 0;
  std::uint64_t cross_cpu_frees = 0;

  // The counters, in the order of the columns of fleet tables.
  static const std::array<std::uint64_t AllocationSums::*, 9> kFields;

  AllocationSums& operator+=(const AllocationSums& other) {
    for (const auto field : kFields) this->*field += other.*field;
    return *this;
  }
  AllocationSums& operator-=(const AllocationSums& other) {
    for (const auto field : kFields) this->*field -= other.*field;
    return *this;
  }
};

inline constexpr std::array<std::uint64_t AllocationSums::*, 9> AllocationSums::kFields = {
    &AllocationSums::allocations,      &AllocationSums::failed_allocations, &AllocationSums::bytes_requested,
    &AllocationSums::bytes_allocated,  &AllocationSums::matched_frees,      &AllocationSums::bytes_freed,
    &AllocationSums::live_allocations, &AllocationSums::live_bytes,         &AllocationSums::cross_cpu_frees};

}  // namespace kmt
