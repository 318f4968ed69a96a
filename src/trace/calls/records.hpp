// SPDX-License-Identifier: GPL-2.0-or-later
// Values recorded when functions were entered. Those of all calls may exceed the memory, so the reader of an event
// gives its record back.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/byte_reader.hpp"
#include "trace/calls/frame.hpp"
#include "trace/event.hpp"

namespace kmt {

struct CallRecord {
  std::vector<std::uint64_t> registers;  // the argument registers, in their order
  std::vector<std::uint8_t> values;      // the record's field `values`
};

class CallRecords {
 public:
  // Returns its number, never 0. Keeps the first 255 registers and the first 65535 bytes of values.
  std::uint64_t add(std::span<const std::uint64_t> registers, Bytes values);
  CallRecord at(std::uint64_t number) const;  // which was added and not given back
  void give_back(std::uint64_t number);

  std::size_t held() const;  // records that were not given back
  std::size_t bytes_held() const;

 private:
  struct Block {
    std::vector<std::uint8_t> bytes;
    std::size_t in_use = 0;  // records that are not given back
  };
  std::vector<Block> blocks_;  // empty ones keep their place
};

// The number of the record that was read at a call_exit, without registers; 0: none. It has 48 bits, in two fields that
// calls use only for a frame. Recorders of frames read nothing late.
constexpr std::uint64_t late_record(const Event& exit) {
  if (has_call_frame(exit)) return 0;
  return std::uint64_t{static_cast<std::uint16_t>(exit.node + 1)} << 32 | exit.gfp_flags;
}
constexpr void set_late_record(Event& exit, std::uint64_t number) {
  exit.node = static_cast<std::int16_t>((number >> 32) - 1);
  exit.gfp_flags = static_cast<std::uint32_t>(number);
}

}  // namespace kmt
