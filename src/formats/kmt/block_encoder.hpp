// SPDX-License-Identifier: GPL-2.0-or-later
// Encodes records of one CPU into a block of columns; the layout is docs/formats/kmt.md, "Events".
//
// A record is split into time, task, address, and the rest: its shape. A call site repeats its shape (same event,
// caller, sizes, flags), so an event stores only a small number for a shape that the block holds once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/byte_reader.hpp"
#include "base/flat_map.hpp"
#include "formats/ftrace/event_format.hpp"
#include "formats/kmt/recency_list.hpp"

namespace kmt::kmt_format {

enum class AddressKind : std::uint8_t { none, slab, page };

// The parts of an event type's record.
struct RecordLayout {
  bool shaped = false;       // worth a shape; else a literal
  std::size_t shortest = 0;  // a shorter record becomes a literal
  AddressKind address_kind = AddressKind::none;
  bool allocates = false;
  std::uint16_t address_offset = 0;
  std::uint8_t address_bytes = 0;
  std::vector<std::uint8_t> field_mask;        // 0xFF in fields, 0 in gaps and padding
  std::vector<std::uint16_t> dynamic_offsets;  // of __data_loc fields
  bool rest_is_data = false;                   // after the fields, to the record's end
};

class RecordLayouts {
 public:
  RecordLayouts(const std::vector<EventFormat>& formats, ByteOrder order);

  const RecordLayout* of(Bytes record) const;  // nullptr: an event without a format
  ByteOrder order() const { return order_; }
  std::uint16_t tid_offset() const { return tid_offset_; }

 private:
  std::vector<RecordLayout> layouts_;  // by event id
  std::vector<bool> described_;
  ByteOrder order_;
  std::uint16_t tid_offset_ = 4;  // of common_pid, 4 bytes
};

// A finished block, uncompressed, and its index entry.
struct EventBlock {
  std::vector<std::uint8_t> bytes;
  std::uint64_t events = 0;
  std::uint64_t first_ticks = 0;
  std::uint64_t last_ticks = 0;
};

class BlockEncoder {
 public:
  explicit BlockEncoder(const RecordLayouts& layouts);  // the layouts must outlive the encoder

  void add(std::uint64_t ticks, Bytes record);
  // Events were lost here; empty: unknown number.
  void add_lost(std::optional<std::uint64_t> count);

  std::uint64_t events() const { return events_; }
  std::uint64_t failed_allocations() const { return failed_allocations_; }  // of the block
  bool empty() const { return events_ == 0 && lost_.empty(); }
  std::size_t plain_bytes() const;  // about the size of finish()'s result
  EventBlock finish();              // leaves the encoder empty

 private:
  using Column = std::vector<std::uint8_t>;
  struct Shape {
    AddressKind address_kind = AddressKind::none;
    std::uint64_t last_address = 0;
    std::size_t begin = 0;  // of its record in the dictionary
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
  std::uint64_t first_ticks_ = 0;
  std::uint64_t last_ticks_ = 0;
  Column scratch_;                    // the record being split
  FlatMap<std::uint32_t> shape_ids_;  // by hash; on collision a shape takes the next free key
  std::vector<Shape> shapes_;
  std::int32_t run_tid_ = 0;
  std::int32_t run_base_ = 0;
  std::uint64_t run_length_ = 0;
  RecencyList recent_[2];
  std::vector<std::int64_t> far_addresses_[2];  // as differences; in order of their kinds' events
  std::vector<std::uint8_t> far_kinds_;
  Column times_, shape_column_, dictionary_, tasks_, recency_, literals_;
  struct Lost {
    std::uint64_t before_event = 0;
    std::optional<std::uint64_t> count;
  };
  std::vector<Lost> lost_;  // by event, one per position
};

}  // namespace kmt::kmt_format
