// SPDX-License-Identifier: GPL-2.0-or-later
// The part of a fleet server's answer to show, and its order; the same for text and JSON.
#pragma once

#include <cstddef>

#include "results/fleet/fleet.hpp"

namespace kmt {

struct FleetOptions {
  const Column<FleetRow>* sort_report = nullptr;     // required for reports
  const Column<FleetLeakRow>* sort_leaks = nullptr;  // required for leaks
  const Column<GroupRow>* sort_diff = nullptr;       // required for diffs
  std::size_t limit = 20;                            // rows per table; 0: all
  Noise noise;
};

}  // namespace kmt
