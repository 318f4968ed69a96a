// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the bits of a packet, as CTF 2 lays them out. Throws Error if the content ends too early.
#pragma once

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "base/byte_reader.hpp"
#include "base/error.hpp"

namespace kmt {

class BitReader {
 public:
  BitReader() = default;
  // The bytes in `packet` may continue after the end of the packet, because the packet's length is known only after its
  // context has been read. `offset` is the packet's position in the stream, for error messages.
  BitReader(Bytes packet, std::uint64_t offset) : bytes_(packet), offset_(offset), end_(packet.size() * 8) {}

  std::uint64_t at() const { return at_; }  // in bits
  std::uint64_t left() const { return end_ - at_; }
  void end_after(std::uint64_t bits) { end_ = std::min<std::uint64_t>(bits, bytes_.size() * 8); }

  void align(std::uint64_t bits) {
    const std::uint64_t aligned = (at_ + bits - 1) & ~(bits - 1);
    if (aligned > end_) throw too_short(aligned - at_);
    at_ = aligned;
  }
  void skip(std::uint64_t bits) {
    if (bits > left()) throw too_short(bits);
    at_ += bits;
  }

  // Reads a number of `length` bits (at most 64). If `big` is true, the most significant bit of each byte is read
  // first. If `last_to_first` is true, the first bit becomes the most significant bit of the number.
  std::uint64_t bits(unsigned length, bool big, bool last_to_first) {
    if (length > left()) throw too_short(length);
    if (at_ % 8 != 0 && last_big_ != big)
      throw Error(fmt::format("the byte at offset {} has fields of two byte orders", offset_ + at_ / 8));
    last_big_ = big;
    if (at_ % 8 == 0 && length % 8 == 0 && big == last_to_first) return whole_bytes(length / 8, big);
    std::uint64_t value = 0;
    for (unsigned i = 0; i < length; ++i, ++at_) {
      const std::uint64_t bit = bytes_[at_ / 8] >> (big ? 7 - at_ % 8 : at_ % 8) & 1;
      value |= bit << (last_to_first ? length - 1 - i : i);
    }
    return value;
  }

  // Reads `count` bytes. The position must be aligned to bytes.
  Bytes bytes(std::uint64_t count) {
    if (count > left() / 8) throw too_short(count * 8);
    const Bytes found = bytes_.subspan(at_ / 8, count);
    at_ += count * 8;
    return found;
  }

 private:
  std::uint64_t whole_bytes(unsigned count, bool big) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < count; ++i) {
      const unsigned place = big ? count - 1 - i : i;
      value |= std::uint64_t{bytes_[at_ / 8 + i]} << (8 * place);
    }
    at_ += count * std::uint64_t{8};
    return value;
  }
  Error too_short(std::uint64_t bits) const {
    return Error(fmt::format("the data ends at offset {}, within a field of {} bits", offset_ + end_ / 8, bits));
  }

  Bytes bytes_;
  std::uint64_t offset_ = 0;
  std::uint64_t at_ = 0;
  std::uint64_t end_ = 0;
  bool last_big_ = false;
};

}  // namespace kmt
