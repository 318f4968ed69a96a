// SPDX-License-Identifier: GPL-2.0-or-later
// Detects the record layout of relay files. For each of the ten layouts, computes which share of the first bytes
// consists of valid records in a valid order.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "formats/relay/layout.hpp"

namespace kmt::relay {

struct Guess {
  Abi abi;
  double share = 0;  // share of sampled bytes in valid records, 0 to 1
  Abi next;          // the second-best layout
  double next_share = 0;
  bool all_addresses_short = false;  // true if all addresses are below 4 GiB, so the kernel is a 32-bit kernel

  bool is_ambiguous() const { return next_share > share * 0.75; }
};

// Returns nothing if no layout reaches half of the bytes.
std::optional<Guess> guess_abi(std::span<const Bytes> files);

// Computes the share for a given layout.
Guess fit_of(const Abi& abi, std::span<const Bytes> files);

// Returns a text such as "v2-le: 99.8% of the sampled bytes are valid records, 3.1% with v3-32-le, the next best
// layout".
std::string describe(const Guess& guess);

}  // namespace kmt::relay
