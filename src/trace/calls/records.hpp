// SPDX-License-Identifier: GPL-2.0-or-later
// What was recorded when functions were entered, for as long as events name it: it may be more than there is memory for
// all of a trace's calls, so whoever has looked at an event gives it back.
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
  // Its number, other than 0. Of the registers the first 255 are kept, of the values the first 65535 bytes.
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

// Of an event call_exit: the number of what was read only then, a record without registers; 0: nothing, or nobody asked
// for it. 48 bits, in two fields that calls have no use for but where they have a frame: who records those reads
// nothing late.
constexpr std::uint64_t late_record(const Event& exit) {
  if (has_call_frame(exit)) return 0;
  return std::uint64_t{static_cast<std::uint16_t>(exit.node + 1)} << 32 | exit.gfp_flags;
}
constexpr void set_late_record(Event& exit, std::uint64_t number) {
  exit.node = static_cast<std::int16_t>((number >> 32) - 1);
  exit.gfp_flags = static_cast<std::uint32_t>(number);
}

}  // namespace kmt
