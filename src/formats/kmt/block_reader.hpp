// SPDX-License-Identifier: GPL-2.0-or-later
// Decodes a block of columns into records. The encoder is in block_encoder.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/byte_reader.hpp"
#include "formats/kmt/block_encoder.hpp"
#include "formats/kmt/times/column.hpp"
#include "formats/kmt/times/decoder.hpp"

namespace kmt::kmt_format {

// The part that many records have in common: a record in which the task and the address are blank.
struct Shape {
  AddressKind address_kind = AddressKind::none;
  std::uint16_t address_offset = 0;
  std::uint8_t address_bytes = 0;
  std::uint64_t last_address = 0;  // address of the latest event with this shape
  Bytes record;
};

struct BlockEvent {
  static constexpr std::uint32_t kLiteral = ~0u;

  std::uint64_t ticks = 0;
  std::int32_t tid = 0;
  std::uint32_t shape = kLiteral;  // index into shapes()
  std::uint64_t address = 0;
  Bytes literal;  // if the event has no shape: its record, with a task ID of 0
};

struct LostHere {
  std::uint64_t before_event = 0;  // index of an event in the block
  std::optional<std::uint64_t> count;
};

class BlockReader {
 public:
  // Borrows the uncompressed bytes of a block. Throws Error if their structure is damaged.
  BlockReader(Bytes block, ByteOrder record_order);

  std::uint64_t events() const { return events_; }
  const std::vector<Shape>& shapes() const { return shapes_; }
  const std::vector<LostHere>& lost() const { return lost_; }
  // Returns the number of events read; 0 at the end. If the block is damaged, the events before the damage are returned
  // first, and the next call throws Error.
  std::size_t read(std::span<BlockEvent> events);
  bool next(BlockEvent& event) { return read({&event, 1}) == 1; }
  // Rebuilds the kernel's record of an event. Padding is zero.
  void rebuild(const BlockEvent& event, std::vector<std::uint8_t>& record) const;

 private:
  void read_dictionary(Column dictionary);
  void read_lost(Column lost);
  std::size_t read_times(std::span<BlockEvent> events);
  void begin_run();
  std::uint64_t next_address(Shape& shape, Column& recency, Column& addresses);

  ByteOrder record_order_;
  std::uint64_t events_ = 0;
  std::uint64_t position_ = 0;
  std::uint64_t tid_offset_ = 0;
  unsigned shifts_[2] = {};
  TimeDecoder times_;
  Column shape_column_, tasks_, recency_, addresses_, literals_;
  std::vector<Shape> shapes_;
  std::vector<LostHere> lost_;
  std::uint64_t run_left_ = 0;
  std::int32_t tid_ = 0;
  RecentAddresses recent_[2];
  std::string damage_;  // text about damage after the first position_ events; empty if there is none
};

}  // namespace kmt::kmt_format
