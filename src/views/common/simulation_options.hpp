// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>

namespace kmt {

struct SimulationOptions {
  std::size_t limit = 10;  // maximum number of caches per simulated heap; 0: all

  std::size_t shown(std::size_t rows) const { return limit == 0 ? rows : std::min(limit, rows); }
};

}  // namespace kmt
