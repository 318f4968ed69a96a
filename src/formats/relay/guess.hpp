// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the layout of relay files' records. For each of the ten layouts it measures how much of the files' starts
// consists of records with possible values in a possible order.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "formats/relay/layout.hpp"

namespace kmt::relay {

struct Guess {
  Abi abi;
  double share = 0;  // share of the sampled bytes in good records, from 0 to 1
  Abi next;          // the second-best layout
  double next_share = 0;
  bool all_addresses_short = false;  // below 4 GiB: the kernel has 32 bits

  bool is_ambiguous() const { return next_share > share * 0.75; }
};

// Empty if no layout explains half of the bytes.
std::optional<Guess> guess_abi(std::span<const Bytes> files);

// The same for a given layout, as far as the files follow it.
Guess fit_of(const Abi& abi, std::span<const Bytes> files);

// "v2-le: 99.8% of the examined part fits it, 3.1% fits v3-32-le, the next best"
std::string describe(const Guess& guess);

}  // namespace kmt::relay
