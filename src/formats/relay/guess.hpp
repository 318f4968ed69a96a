// SPDX-License-Identifier: GPL-2.0-or-later
// Detects the layout of the records in relay files. For each of the five layouts in both byte orders, computes the
// share of the files' first bytes that are valid records in a valid order.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "formats/relay/layout.hpp"

namespace kmt::relay {

struct Guess {
  Abi abi;
  double share = 0;  // share of the examined bytes that are in valid records, from 0 to 1
  Abi next;          // the second-best layout
  double next_share = 0;
  bool all_addresses_short = false;  // true if all addresses are below 4 GiB, so the kernel is a 32-bit kernel

  bool is_ambiguous() const { return next_share > share * 0.75; }
};

// Returns the layout with the largest share. Returns nothing if this share is less than one half.
std::optional<Guess> guess_abi(std::span<const Bytes> files);

// Returns a Guess for a layout that the user has chosen.
Guess fit_of(const Abi& abi, std::span<const Bytes> files);

// Returns a text such as "v2-le: 99.8% of the sampled bytes are valid records, 3.1% with v3-32-le, the next best
// layout".
std::string describe(const Guess& guess);

}  // namespace kmt::relay
