// SPDX-License-Identifier: GPL-2.0-or-later
// Does a series of live bytes grow, how fast, and how sure is that?
//
// The values are taken in 16 blocks, by the median of each: outliers do not count. The slope is the median of the
// slopes between all pairs of blocks (Theil 1950, Sen 1968). Whether it grows is judged by Kendall's tau of the blocks:
// the share of pairs that rise less the share that fall. Ties are neither, so that a plateau counts against growth.
//
// What is live at one time depends on what was live before: objects that come and go at random make a random walk.
// The usual significance of tau (Mann 1945, Kendall 1975) takes the values for independent and calls one in three
// random walks growing, where it promises one in twenty. Corrections of its variance (Hamed & Rao 1998) are for values
// that return to a mean, which a random walk does not. So tau is compared with what tau is of random walks, see
// kTauOfWalk: the confidence is right for them, and cautious for values that return to a mean. The interval of the
// slope follows Sen: the slopes between pairs that a tau of 95 % of random walks leaves over.
//
// Tau says little of very seldom walks: one in 2000 has the greatest there is, and a report may be of thousands of
// groups. The rises from block to block of a random walk are independent, and their mean is 0: Student's t of 16 of
// them (15 degrees of freedom) tells at any level how seldom they are as even as these. It promises too little, not too
// much, where steps are unlike each other.
#pragma once

#include <cstddef>
#include <span>

#include "results/series/trend.hpp"

namespace kmt {

// Of values at equal distances in time. Those of a group begin with its first allocation, not with the trace: before
// it, nothing was there to grow. The time does not depend on the values, and hardly on their number.
Trend trend_of(std::span<const double> values, double seconds_between);

// The evenness that hardly any of so many random walks has.
double needed_evenness(std::size_t judged);
// True if it grows steadily, and by more than that.
bool rises_above(const Trend& trend, double bytes_per_s);

}  // namespace kmt
