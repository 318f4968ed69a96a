// SPDX-License-Identifier: GPL-2.0-or-later
// Builds the index at the end of a .kmt file, and the trailer with the offset of the index: docs/formats/kmt.md.
#pragma once

#include <cstdint>
#include <vector>

namespace kmt::kmt_format {

class Index {
 public:
  // Call this for every chunk of the file, in order.
  void add(std::uint64_t offset, std::uint8_t type, std::uint16_t stream);
  // Adds the number and the times of the events in a block. Call this right after add() for the block.
  void add_events(std::uint64_t events, std::uint64_t first_ticks, std::uint64_t last_ticks);

  const std::vector<std::uint8_t>& bytes() const { return bytes_; }  // payload of the index chunk
  // Returns the index chunk and the trailer. `offset` is the position of the index chunk in the file, in bytes.
  std::vector<std::uint8_t> end_of_file(std::uint64_t offset) const;

 private:
  // This is enough for some million blocks. If a file has more, its index is empty, which is no problem because readers
  // do not need it.
  static constexpr std::size_t kMostBytes = 32u << 20;

  std::vector<std::uint8_t> bytes_;
  bool too_large_ = false;
  std::uint64_t last_offset_ = 0;
};

}  // namespace kmt::kmt_format
