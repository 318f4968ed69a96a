// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the processes that allocated the memory whose growth is most certain.
#pragma once

#include "results/report/leaks.hpp"

namespace kmt {

// Sets LeaksResult::worst and the members that are declared after it. The rows must have verdicts.
void find_sources(LeaksResult& result);

}  // namespace kmt
