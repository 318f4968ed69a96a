// SPDX-License-Identifier: GPL-2.0-or-later
// Records of one CPU into a block of columns; the layout is docs/formats/kmt.md, "Events".
//
// A record is taken apart into its time, its task, its address, and the rest: its shape. A call site repeats its shape
// again and again (same event, caller, sizes, flags), so an event costs a small number for it, written once a block.
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

// What of a record is what, for one event type.
struct RecordLayout {
  bool shaped = false;       // worth a shape; else a literal
  std::size_t shortest = 0;  // a record that is shorter becomes a literal
  AddressKind address_kind = AddressKind::none;
  bool allocates = false;
  std::uint16_t address_offset = 0;
  std::uint8_t address_bytes = 0;
  std::vector<std::uint8_t> field_mask;        // 0xFF where a field is, 0 where nothing or padding is
  std::vector<std::uint16_t> dynamic_offsets;  // of __data_loc fields
  bool rest_is_data = false;                   // behind the fields, however far
};

class RecordLayouts {
 public:
  RecordLayouts(const std::vector<EventFormat>& formats, ByteOrder order);

  const RecordLayout* of(Bytes record) const;  // nullptr: an event that no format describes
  ByteOrder order() const { return order_; }
  std::uint16_t tid_offset() const { return tid_offset_; }

 private:
  std::vector<RecordLayout> layouts_;  // by event id
  std::vector<bool> described_;
  ByteOrder order_;
  std::uint16_t tid_offset_ = 4;  // of common_pid, 4 bytes
};

// A finished block, not yet compressed, and what an index says of it.
struct EventBlock {
  std::vector<std::uint8_t> bytes;
  std::uint64_t events = 0;
  std::uint64_t first_ticks = 0;
  std::uint64_t last_ticks = 0;
};

class BlockEncoder {
 public:
  explicit BlockEncoder(const RecordLayouts& layouts);  // which must outlive the encoder

  void add(std::uint64_t ticks, Bytes record);
  // Events were lost here, so many if that is known.
  void add_lost(std::optional<std::uint64_t> count);

  std::uint64_t events() const { return events_; }
  std::uint64_t failed_allocations() const { return failed_allocations_; }  // of the block
  bool empty() const { return events_ == 0 && lost_.empty(); }
  std::size_t plain_bytes() const;  // about what finish() will return
  EventBlock finish();              // the encoder is as new after it

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
  Column scratch_;                    // the record being taken apart
  FlatMap<std::uint32_t> shape_ids_;  // by hash; equal hashes of different shapes take the next free key
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
  std::vector<Lost> lost_;  // in the order of the events, one a place
};

}  // namespace kmt::kmt_format
