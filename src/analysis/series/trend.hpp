// SPDX-License-Identifier: GPL-2.0-or-later
// Does a series of live bytes grow, how fast, and how sure is that?
//
// The values are taken in 16 blocks, by the median of each: outliers do not count. The slope is the median of the
// slopes between all pairs of blocks (Theil 1950, Sen 1968). Whether it grows is judged by Kendall's tau of the blocks:
// the share of pairs that rise less the share that fall. Ties are neither, so that a plateau counts against growth.
//
// The bytes that are live at one time depend on those that were live before: objects that come and go at random make a
// random walk. The usual significance of tau (Mann 1945, Kendall 1975) assumes independent values. It calls one in
// three random walks growing, where it promises one in twenty. Corrections of its variance (Hamed & Rao 1998) are for
// values that return to a mean, which a random walk does not. So tau is compared with the tau of random walks, see
// kTauOfWalk. The confidence is right for them, and cautious for values that return to a mean. The interval of the
// slope follows Sen: the slopes between pairs that a tau of 95 % of random walks leaves over.
//
// Tau cannot tell very rare walks apart: one in 2000 has the greatest tau, and a report may have thousands of groups.
// The rises from block to block of a random walk are independent, and their mean is 0. Student's t of 16 rises (15
// degrees of freedom) gives a p-value at any level. If the steps differ in size, t promises too little rather than too
// much.
#pragma once

#include <cstddef>
#include <span>

#include "results/series/trend.hpp"

namespace kmt {

// Takes values at equal intervals. The values of a group start with its first allocation, not with the trace, since
// there was nothing to grow before. The time taken does not depend on the values, and hardly on their number.
Trend trend_of(std::span<const double> values, double seconds_between);

// The steadiness that hardly any of this many random walks has.
double needed_evenness(std::size_t judged);
// True if it grows steadily, and by more than that.
bool rises_above(const Trend& trend, double bytes_per_s);

}  // namespace kmt
