// SPDX-License-Identifier: GPL-2.0-or-later
// Options of text and JSON fleet results: which part to show, and in which order.
#pragma once

#include <cstddef>

#include "results/fleet/fleet.hpp"

namespace kmt {

struct FleetOptions {
  const Column<FleetRow>* sort_report = nullptr;     // must be set for reports
  const Column<FleetLeakRow>* sort_leaks = nullptr;  // must be set for leaks
  const Column<GroupRow>* sort_diff = nullptr;       // must be set for diffs
  std::size_t limit = 20;                            // maximum number of rows per table; 0: all
  Noise noise;
};

}  // namespace kmt
