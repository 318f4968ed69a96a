// SPDX-License-Identifier: GPL-2.0-or-later
// Stores values recorded at function entry. The values of all calls may exceed the memory, so the user of an event must
// release its record with give_back().
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/byte_reader.hpp"

namespace kmt {

struct CallRecord {
  std::vector<std::uint64_t> registers;  // argument registers in order
  std::vector<std::uint8_t> values;      // field `values` of the record
};

class CallRecords {
 public:
  // Adds a record and returns its number, which is never 0. Keeps the first 255 registers and the first 65535 bytes of
  // values.
  std::uint64_t add(std::span<const std::uint64_t> registers, Bytes values);
  CallRecord at(std::uint64_t number) const;  // `number` must not have been released
  void give_back(std::uint64_t number);

  std::size_t held() const;  // number of records that were not released
  std::size_t bytes_held() const;

 private:
  struct Block {
    std::vector<std::uint8_t> bytes;
    std::size_t in_use = 0;  // number of records that were not released
  };
  std::vector<Block> blocks_;  // released blocks keep their index
};

}  // namespace kmt
