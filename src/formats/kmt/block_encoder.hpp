// SPDX-License-Identifier: GPL-2.0-or-later
// Encodes records of one CPU into a block of columns. The layout is described in docs/formats/kmt.md, "A block of
// events". A record is split into time, task, address, and its shape. The shape is the record with these three parts
// blank. Records of one call site usually have the same shape (event, caller, sizes, flags). A block stores each shape
// once, and an event stores the shape's number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/byte_reader.hpp"
#include "base/flat_map.hpp"
#include "formats/ftrace/event_format.hpp"
#include "formats/kmt/recency_list.hpp"
#include "formats/kmt/times/encoder.hpp"

namespace kmt::kmt_format {

enum class AddressKind : std::uint8_t { none, slab, page };

// The structure of one event type's records.
struct RecordLayout {
  bool shaped = false;       // true if records are stored as shapes; otherwise as literals
  std::size_t shortest = 0;  // minimum size of a shaped record in bytes; shorter records are stored as literals
  AddressKind address_kind = AddressKind::none;
  bool allocates = false;
  std::uint16_t address_offset = 0;
  std::uint8_t address_bytes = 0;
  std::vector<std::uint8_t> field_mask;        // 0xFF in fields, 0 in gaps and padding
  std::vector<std::uint16_t> dynamic_offsets;  // offsets of __data_loc fields
  bool rest_is_data = false;                   // true if bytes after the last field are data, not padding
};

class RecordLayouts {
 public:
  RecordLayouts(const std::vector<EventFormat>& formats, ByteOrder order);

  const RecordLayout* of(Bytes record) const;  // null if the event has no format
  ByteOrder order() const { return order_; }
  std::uint16_t tid_offset() const { return tid_offset_; }

 private:
  std::vector<RecordLayout> layouts_;  // by event ID
  std::vector<bool> described_;
  ByteOrder order_;
  std::uint16_t tid_offset_ = 4;  // offset of common_pid, which has 4 bytes
};

// A finished, uncompressed block, with its index entry.
struct EventBlock {
  std::vector<std::uint8_t> bytes;
  std::vector<std::size_t> column_ends;  // positions in `bytes` after large columns, for make_events_chunk()
  std::uint64_t events = 0;
  std::uint64_t first_ticks = 0;
  std::uint64_t last_ticks = 0;
};

class BlockEncoder {
 public:
  explicit BlockEncoder(const RecordLayouts& layouts);  // the layouts must outlive the encoder

  void add(std::uint64_t ticks, Bytes record);
  // Marks a loss of events at this position. `count` is empty if the number is unknown.
  void add_lost(std::optional<std::uint64_t> count);

  std::uint64_t events() const { return events_; }
  std::uint64_t failed_allocations() const { return failed_allocations_; }  // number in the current block
  bool empty() const { return events_ == 0 && lost_.empty(); }
  std::size_t plain_bytes() const;  // estimated size of the block from finish()
  EventBlock finish();              // the encoder is empty afterwards

 private:
  using Column = std::vector<std::uint8_t>;
  struct Shape {
    AddressKind address_kind = AddressKind::none;
    std::uint64_t last_address = 0;
    std::size_t begin = 0;  // position of the shape in the dictionary, in bytes
    std::size_t size = 0;
  };

  void add_tid(std::int32_t tid);
  void add_address(Shape& shape, std::uint64_t address);
  std::uint32_t shape_of(const RecordLayout& layout);
  void canonicalize(const RecordLayout& layout, Bytes record);
  void reset();

  const RecordLayouts& layouts_;
  std::uint64_t events_ = 0;
  std::uint64_t failed_allocations_ = 0;
  Column scratch_;  // a copy of the record being encoded
  // key: hash of a shape, or the next unused number if another shape has this hash; value: number of the shape
  FlatMap<std::uint32_t> shape_ids_;
  std::vector<Shape> shapes_;
  std::int32_t run_tid_ = 0;
  std::int32_t run_base_ = 0;
  std::uint64_t run_length_ = 0;
  RecencyList recent_[2];
  // Differences to the previous address of the same shape, for addresses that are not in recent_. One list for each
  // kind of address, in the order of the events.
  std::vector<std::int64_t> far_addresses_[2];
  std::vector<std::uint8_t> far_kinds_;
  TimeEncoder times_;
  Column shape_column_, dictionary_, tasks_, recency_, literals_;
  struct Lost {
    std::uint64_t before_event = 0;
    std::optional<std::uint64_t> count;
  };
  std::vector<Lost> lost_;  // ordered by position, at most one loss per position
};

}  // namespace kmt::kmt_format
