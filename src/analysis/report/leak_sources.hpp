// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the processes that allocated the memory whose growth is most certain.
#pragma once

#include "results/report/leaks.hpp"

namespace kmt {

// Sets LeaksResult::worst and the members declared after it. The verdicts of the rows must already be set.
void find_sources(LeaksResult& result);

}  // namespace kmt
