// SPDX-License-Identifier: GPL-2.0-or-later
// The addresses named last, most recent first. Writer and reader keep the same list: what SLUB frees it soon gives
// again, and what is allocated is soon freed, so most addresses are a small number here.
#pragma once

#include <cstdint>
#include <cstring>

namespace kmt::kmt_format {

class RecencyList {
 public:
  static constexpr unsigned kSize = 64;

  // Where the address is, kSize when it is not. Moves it to the front, or inserts it there.
  unsigned find_and_move(std::uint64_t address) {
    unsigned at = 0;
    while (at < kSize && addresses_[at] != address) ++at;
    move_to_front(at < kSize ? at : kSize - 1, address);
    return at;
  }
  // The address at a position below kSize, moved to the front.
  std::uint64_t take(unsigned at) {
    const std::uint64_t address = addresses_[at];
    move_to_front(at, address);
    return address;
  }
  void insert(std::uint64_t address) { move_to_front(kSize - 1, address); }

 private:
  void move_to_front(unsigned at, std::uint64_t address) {
    std::memmove(addresses_ + 1, addresses_, at * sizeof *addresses_);
    addresses_[0] = address;
  }

  std::uint64_t addresses_[kSize] = {};
};

}  // namespace kmt::kmt_format
