// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the length of the steps in which a trace clock advances. A counter of 100 MHz makes a clock of nanoseconds
// advance by 10 ns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kmt::kmt_format {

constexpr std::size_t kStepSample = 4096;  // number of differences that find_clock_step() needs

// `differences` are the ticks between consecutive events, in any order. Returns the length of a step in 1/2^32 ticks,
// with a relative error of a few millionths. Returns 0 if the clock has no steps of at least 3 ticks, or if too few
// differences are short.
std::uint64_t find_clock_step(std::vector<std::uint32_t> differences);

}  // namespace kmt::kmt_format
