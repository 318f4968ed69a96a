// SPDX-License-Identifier: GPL-2.0-or-later
// Which groups of a report grow, and whether what is certainly live carries that alone.
#pragma once

#include "results/report/leaks.hpp"

namespace kmt {

// Growth is certain if the low end of its interval is above the threshold, it goes on in the last half, and random
// walks rise as steadily in less than one of twenty reports (by the number of groups that are judged). All of that must
// also be true of the live bytes without those that may be freed: these count as freed at once.
//
// A group that was followed for less than a second has no verdict: programs that start look like leaks.
//
// The report must have histories.
LeaksResult leaks_of(const ReportResult& report, double threshold_bytes_per_s);

}  // namespace kmt
