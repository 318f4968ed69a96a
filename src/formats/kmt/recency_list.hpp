// SPDX-License-Identifier: GPL-2.0-or-later
// A list of the latest addresses, most recent first. The writer and the reader keep equal lists, so an address can be
// written as its position in the list. Positions are usually small: most objects are freed soon, and SLUB soon reuses
// freed objects.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/endian.hpp"

namespace kmt::kmt_format {

// The writer's list, which is searched for addresses.
class RecencyList {
 public:
  static constexpr unsigned kSize = 64;

  // Returns the position of the address, or kSize if it is not in the list. Then moves the address to the front, or
  // inserts it there.
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

// The reader's list, which is accessed by position. Addresses stay in place, and only their indices move, which have
// one byte each. Eight indices move together as a word, because the CPU can load a word quickly right after it was
// stored as a whole.
class RecentAddresses {
 public:
  RecentAddresses() {
    for (unsigned at = 0; at < kSize; ++at) order_[front_ + at] = static_cast<std::uint8_t>(at);
  }

  // Returns the address at a position below kSize, and moves it to the front.
  std::uint64_t take(unsigned at) {
    if (at >= 8) return take_far(at);
    const std::uint64_t word = first_eight();
    const std::uint64_t number = word >> at * 8 & 0xFF;
    const std::uint64_t before = (std::uint64_t{1} << at * 8) - 1;
    set_first_eight((word & ~(before << 8 | 0xFF)) | (word & before) << 8 | number);
    return addresses_[number];
  }

  // Inserts an address at the front. It replaces the oldest one.
  void insert(std::uint64_t address) {
    const std::uint8_t oldest = order_[front_ + kSize - 1];
    addresses_[oldest] = address;
    if (front_ == 0) {
      std::memmove(order_ + kRoom, order_, kSize);
      front_ = kRoom;
    }
    const std::uint64_t word = first_eight();
    --front_;
    set_first_eight(word << 8 | oldest);
  }

 private:
  static constexpr unsigned kSize = RecencyList::kSize;
  // Number of insertions at the front until the indices must be moved back to the end of order_.
  static constexpr unsigned kRoom = 1024;

  std::uint64_t first_eight() const { return load<std::uint64_t>(order_ + front_, ByteOrder::little); }
  void set_first_eight(std::uint64_t word) { store(order_ + front_, word, ByteOrder::little); }

  std::uint64_t take_far(unsigned at) {
    const std::uint8_t number = order_[front_ + at];
    std::memmove(order_ + front_ + 1, order_ + front_, at);
    order_[front_] = number;
    return addresses_[number];
  }

  std::uint64_t addresses_[kSize] = {};
  std::uint8_t order_[kRoom + kSize];  // indices of addresses from front_ on, most recent first
  unsigned front_ = kRoom;
};

}  // namespace kmt::kmt_format
