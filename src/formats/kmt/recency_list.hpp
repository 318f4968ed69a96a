// SPDX-License-Identifier: GPL-2.0-or-later
// The addresses named last, most recent first. Writer and reader keep the same list: what SLUB frees it soon gives
// again, and what is allocated is soon freed, so most addresses are a small number here.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

namespace kmt::kmt_format {

// The writer's: addresses are searched, and stand where they are found.
class RecencyList {
 public:
  static constexpr unsigned kSize = 64;

  // Where the address is, kSize when it is not. Moves it to the front, or inserts it there.
  unsigned find_and_move(std::uint64_t address) {
    unsigned at = 0;
    while (at < kSize && addresses_[at] != address) ++at;
    std::memmove(addresses_ + 1, addresses_, (at < kSize ? at : kSize - 1) * sizeof *addresses_);
    addresses_[0] = address;
    return at;
  }

 private:
  std::uint64_t addresses_[kSize] = {};
};

// The reader's, which is told places: addresses stay where they are and one-byte numbers of them move, eight in a word,
// which is a third of the time of moving the addresses.
class RecentAddresses {
 public:
  // The address at a position below kSize, moved to the front.
  std::uint64_t take(unsigned at) { return addresses_[move_to_front(at)]; }
  void insert(std::uint64_t address) { addresses_[move_to_front(RecencyList::kSize - 1)] = address; }

 private:
  static constexpr unsigned kWords = RecencyList::kSize / 8;

  // The number at the position.
  unsigned move_to_front(unsigned at) {
    const unsigned last = at / 8;
    const unsigned shift = at % 8 * 8;
    const std::uint64_t number = order_[last] >> shift & 0xFF;
    std::uint64_t carry = number;  // into the low byte of the next word
    for (unsigned i = 0; i < last; ++i) {
      const std::uint64_t word = order_[i];
      order_[i] = word << 8 | carry;
      carry = word >> 56;
    }
    const std::uint64_t below = (std::uint64_t{1} << shift) - 1;
    const std::uint64_t word = order_[last];
    order_[last] = (word & ~(below << 8 | 0xFF)) | (word & below) << 8 | carry;
    return static_cast<unsigned>(number);
  }

  std::uint64_t addresses_[RecencyList::kSize] = {};
  std::array<std::uint64_t, kWords> order_ = [] {  // byte i of word j: which address is at position 8j + i
    std::array<std::uint64_t, kWords> order{};
    for (std::uint64_t at = 0; at < RecencyList::kSize; ++at) order[at / 8] |= at << at % 8 * 8;
    return order;
  }();
};

}  // namespace kmt::kmt_format
