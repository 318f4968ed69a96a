// SPDX-License-Identifier: GPL-2.0-or-later
// Computes the logarithms that poisson.h needs, because the kernel cannot compute them.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "capture/bpf/programs/poisson.h"

namespace kmt {

// Element i is the base 2 logarithm of 1 + i / KMT_LOG2_STEPS, with KMT_LOG2_FRACTION bits of fraction.
inline std::array<std::uint32_t, KMT_LOG2_STEPS + 1> log2_table() {
  constexpr double kSteps = KMT_LOG2_STEPS;
  constexpr double kOne = 1 << KMT_LOG2_FRACTION;
  std::array<std::uint32_t, KMT_LOG2_STEPS + 1> table{};
  for (std::size_t i = 0; i < table.size(); ++i)
    table[i] = static_cast<std::uint32_t>(std::llround(std::log2(1 + static_cast<double>(i) / kSteps) * kOne));
  return table;
}

}  // namespace kmt
