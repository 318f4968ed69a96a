// SPDX-License-Identifier: GPL-2.0-or-later
// Decides whether a series of live bytes grows, how fast, and with what confidence.
//
// The values are divided into 16 blocks. The median of each block is used, so outliers have no effect. The slope is the
// median of the slopes between all pairs of blocks (Theil 1950, Sen 1968). Growth is judged by Kendall's tau of the
// blocks: the share of pairs that rise minus the share of pairs that fall. Pairs of equal values belong to neither
// share, so a plateau counts against growth.
//
// Live bytes depend on the bytes that were live before, so objects that are allocated and freed at random form a random
// walk. The usual significance of tau (Mann 1945, Kendall 1975) assumes independent values. At a level of one in
// twenty, it would find growth in one of three random walks. Corrections of its variance (Hamed & Rao 1998) assume
// values that return to a mean, unlike a random walk. Therefore tau is compared with the tau of random walks
// (kTauOfWalk). The resulting confidence is correct for random walks, and too low rather than too high for values that
// return to a mean. The interval of the slope follows Sen: its bounds are the quantiles of the slopes that belong to
// the tau of 95 % of random walks.
//
// For very small probabilities, tau does not suffice: one in 2000 random walks has the greatest possible tau, but a
// report may have thousands of groups. Student's t can give a p-value at any level: the rises of a random walk from
// block to block are independent, with a mean of 0. It is computed from 16 rises (15 degrees of freedom). If the steps
// differ in size, the p-value of t is too large rather than too small.
#pragma once

#include <cstddef>
#include <span>

#include "results/series/trend.hpp"

namespace kmt {

// Returns the trend of values at equal time intervals. The values of a group start with its first allocation, not with
// the trace, because the group did not grow before. The run time depends only slightly on the number of values.
Trend trend_of(std::span<const double> values, double seconds_between);

// Returns the evenness (Trend::evenness) that a series needs to count as growth. Hardly any of `judged` random walks
// reaches it.
double needed_evenness(std::size_t judged);
// True if the trend grows steadily and faster than this rate.
bool rises_above(const Trend& trend, double bytes_per_s);

// Returns the number of steps of a series that rises only in steps. There must be at least three steps of similar size,
// and at least one of them in the last part of the time. Returns 0 for other series.
std::size_t equal_steps(std::span<const double> values);

}  // namespace kmt
