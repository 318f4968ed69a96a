// SPDX-License-Identifier: GPL-2.0-or-later
// Which groups of a report grow, and whether what is certainly live carries that alone.
#pragma once

#include "results/report/leaks.hpp"

namespace kmt {

// Growth is certain when the low end of its interval is above the threshold, it goes on in the last half, random walks
// do not rise as evenly in one of twenty reports (by the number of groups that are judged), and all that is true of the
// live bytes without those that may be freed, too: these count as freed at once.
//
// Of a group that is not followed for a second nothing is said: programs that start look like leaks.
//
// Of a report with histories.
LeaksResult leaks_of(const ReportResult& report, double threshold_bytes_per_s);

}  // namespace kmt
