// SPDX-License-Identifier: GPL-2.0-or-later
// Which part of what a fleet's server tells is shown, in which order; the same for text and JSON.
#pragma once

#include <cstddef>

#include "results/fleet/fleet.hpp"

namespace kmt {

struct FleetOptions {
  const Column<FleetRow>* sort_report = nullptr;     // never null where a report is shown
  const Column<FleetLeakRow>* sort_leaks = nullptr;  // likewise
  const Column<GroupRow>* sort_diff = nullptr;       // likewise
  std::size_t limit = 20;                            // rows of each table; 0: all
  Noise noise;
};

}  // namespace kmt
