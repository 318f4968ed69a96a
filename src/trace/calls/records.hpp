// SPDX-License-Identifier: GPL-2.0-or-later
// Values recorded when functions were entered. Those of all calls may exceed the memory, so the reader of an event
// gives its record back.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/byte_reader.hpp"

namespace kmt {

struct CallRecord {
  std::vector<std::uint64_t> registers;  // the argument registers, in their order
  std::vector<std::uint8_t> values;      // the record's field `values`
};

class CallRecords {
 public:
  // Returns its number, never 0. Keeps the first 255 registers and the first 65535 bytes of values.
  std::uint64_t add(std::span<const std::uint64_t> registers, Bytes values);
  CallRecord at(std::uint64_t number) const;  // one that was added and not freed
  void give_back(std::uint64_t number);

  std::size_t held() const;  // records that were not freed
  std::size_t bytes_held() const;

 private:
  struct Block {
    std::vector<std::uint8_t> bytes;
    std::size_t in_use = 0;  // records that were not freed
  };
  std::vector<Block> blocks_;  // empty ones keep their place
};

}  // namespace kmt
