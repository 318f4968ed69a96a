// SPDX-License-Identifier: GPL-2.0-or-later
// Finds out which layout the records of relay files have: under each of the ten that there are, how much of the files'
// beginnings are records whose values can be, in an order in which they can be.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "formats/relay/layout.hpp"

namespace kmt::relay {

struct Guess {
  Abi abi;
  double share = 0;  // of the bytes looked at that are good records of the layout, from 0 to 1
  Abi next;          // the layout that fits second best
  double next_share = 0;
  bool all_addresses_short = false;  // below 4 GiB: the kernel has 32 bits

  bool is_ambiguous() const { return next_share > share * 0.75; }
};

// Empty where no layout explains half of what is there.
std::optional<Guess> guess_abi(std::span<const Bytes> files);

// Of a layout that is given, as far as the files follow it.
Guess fit_of(const Abi& abi, std::span<const Bytes> files);

// "v2-le: 99.8% of what was looked at are records of it, 3.1% of v3-32-le, the next best"
std::string describe(const Guess& guess);

}  // namespace kmt::relay
