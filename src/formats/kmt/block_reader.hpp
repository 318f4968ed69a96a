// SPDX-License-Identifier: GPL-2.0-or-later
// A block of columns back into records; the counterpart of block_encoder.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/byte_reader.hpp"
#include "base/varint.hpp"
#include "formats/kmt/block_encoder.hpp"

namespace kmt::kmt_format {

// What records have in common: one record with its task and its address blank.
struct Shape {
  AddressKind address_kind = AddressKind::none;
  std::uint16_t address_offset = 0;
  std::uint8_t address_bytes = 0;
  std::uint64_t last_address = 0;  // of the events given so far
  Bytes record;
};

struct BlockEvent {
  static constexpr std::uint32_t kLiteral = ~0u;

  std::uint64_t ticks = 0;
  std::int32_t tid = 0;
  std::uint32_t shape = kLiteral;  // index into shapes()
  std::uint64_t address = 0;
  Bytes literal;  // a record without a shape, its task blank
};

struct LostHere {
  std::uint64_t before_event = 0;  // of the block
  std::optional<std::uint64_t> count;
};

class BlockReader {
 public:
  // The plain bytes of a block, borrowed. Throws Error when their structure is damaged, as does next().
  BlockReader(Bytes block, ByteOrder record_order);

  std::uint64_t events() const { return events_; }
  const std::vector<Shape>& shapes() const { return shapes_; }
  const std::vector<LostHere>& lost() const { return lost_; }
  bool next(BlockEvent& event);
  // The whole record of an event of this block, as the kernel wrote it but for its padding.
  void rebuild(const BlockEvent& event, std::vector<std::uint8_t>& record) const;

 private:
  struct Column {
    const std::uint8_t* at = nullptr;
    const std::uint8_t* end = nullptr;

    // All throw Error where the column ends too early.
    std::uint64_t varint() { return at != end && *at < 0x80 ? *at++ : long_varint(); }
    std::uint64_t long_varint();
    std::uint8_t byte() {
      if (at == end) throw_cut_off();
      return *at++;
    }
    Bytes bytes(std::uint64_t count);
    bool empty() const { return at == end; }
    [[noreturn]] static void throw_cut_off();
  };

  void read_dictionary(Column dictionary);
  void read_lost(Column lost);
  void begin_run();
  std::uint64_t next_address(Shape& shape);
  void next_literal(BlockEvent& event);
  [[noreturn]] static void throw_damaged(const char* what);

  ByteOrder record_order_;
  std::uint64_t events_ = 0;
  std::uint64_t position_ = 0;
  std::uint64_t ticks_ = 0;
  std::uint64_t tid_offset_ = 0;
  unsigned shifts_[2] = {};
  Column times_, shape_column_, tasks_, recency_, addresses_, literals_;
  std::vector<Shape> shapes_;
  std::vector<LostHere> lost_;
  std::uint64_t run_left_ = 0;
  std::int32_t tid_ = 0;
  RecentAddresses recent_[2];
};

inline std::uint64_t BlockReader::next_address(Shape& shape) {
  const unsigned list = shape.address_kind == AddressKind::page ? 1 : 0;
  const unsigned at = recency_.byte();
  if (at > RecencyList::kSize) throw_damaged("A block names an address that is not recent");
  if (at > 0) return shape.last_address = recent_[list].take(at - 1);
  shape.last_address += static_cast<std::uint64_t>(unzigzag(addresses_.varint())) << shifts_[list];
  recent_[list].insert(shape.last_address);
  return shape.last_address;
}

// The time of reading a trace is spent here.
inline bool BlockReader::next(BlockEvent& event) {
  if (position_ == events_) return false;
  ++position_;
  ticks_ += times_.varint();
  event.ticks = ticks_;
  if (run_left_ == 0) begin_run();
  --run_left_;
  event.tid = tid_;
  const std::uint64_t shape = shape_column_.varint();
  if (shape == 0) {
    next_literal(event);
    return true;
  }
  if (shape > shapes_.size()) throw_damaged("A block names a shape that it has not");
  event.shape = static_cast<std::uint32_t>(shape - 1);
  Shape& named = shapes_[event.shape];
  event.address = named.address_kind == AddressKind::none ? 0 : next_address(named);
  return true;
}

}  // namespace kmt::kmt_format
