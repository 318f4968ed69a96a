// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/allocation_sums.hpp"

#include <gtest/gtest.h>

namespace kmt {
namespace {

TEST(AllocationSums, EachCounterIsAddedAndSubtracted) {
  AllocationSums one;
  std::uint64_t value = 0;
  for (const auto field : AllocationSums::kFields) one.*field = ++value;
  EXPECT_EQ(sizeof(AllocationSums), AllocationSums::kFields.size() * sizeof(std::uint64_t));
  AllocationSums sum = one;
  sum += one;
  value = 0;
  for (const auto field : AllocationSums::kFields) EXPECT_EQ(sum.*field, 2 * ++value);
  sum -= one;
  value = 0;
  for (const auto field : AllocationSums::kFields) EXPECT_EQ(sum.*field, ++value);
}

}  // namespace
}  // namespace kmt
