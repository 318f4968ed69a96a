// SPDX-License-Identifier: GPL-2.0-or-later
// Stores values recorded at function entry. The values of all calls may not fit into memory. So the code that reads an
// event must release the event's record with give_back().
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/byte_reader.hpp"

namespace kmt {

struct CallRecord {
  std::vector<std::uint64_t> registers;  // contents of the argument registers, in order
  std::vector<std::uint8_t> values;      // the bytes in the field `values` of the event
};

class CallRecords {
 public:
  // Adds a record and returns its number, which is never 0. Keeps the first 255 registers and the first 65535 bytes of
  // values.
  std::uint64_t add(std::span<const std::uint64_t> registers, Bytes values);
  // `number` was returned by add(); give_back() must not have been called for it.
  CallRecord at(std::uint64_t number) const;
  void give_back(std::uint64_t number);

  std::size_t held() const;  // returns the number of records that give_back() has not released yet
  std::size_t bytes_held() const;

 private:
  struct Block {
    std::vector<std::uint8_t> bytes;
    std::size_t in_use = 0;  // number of records in the block that give_back() has not released yet
  };
  std::vector<Block> blocks_;  // the index of a block stays the same, even if earlier blocks are released
};

}  // namespace kmt
