// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/flat_map.hpp"

#include <random>

namespace kmt {

const std::uint64_t kHashSeed = [] {
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}();

}  // namespace kmt
