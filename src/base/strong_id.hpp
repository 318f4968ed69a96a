// SPDX-License-Identifier: GPL-2.0-or-later
// Dense ids that do not convert into each other.
#pragma once

#include <cstdint>

namespace kmt {

template <typename Tag, typename Int>
struct StrongId {
  Int value = 0;
  friend bool operator==(StrongId, StrongId) = default;
};

}  // namespace kmt
