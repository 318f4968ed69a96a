// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/kmt/block_reader.hpp"

#include "base/error.hpp"
#include "formats/kmt/layout.hpp"

namespace kmt::kmt_format {

void BlockReader::Column::throw_cut_off() { throw Error("A block's column ends too early"); }

void BlockReader::throw_damaged(const char* what) { throw Error(what); }

std::uint64_t BlockReader::Column::long_varint() {
  std::uint64_t value = 0;
  if (!read_varint(at, end, value)) throw_cut_off();
  return value;
}

Bytes BlockReader::Column::bytes(std::uint64_t count) {
  if (count > static_cast<std::uint64_t>(end - at)) throw_cut_off();
  const Bytes taken(at, count);
  at += count;
  return taken;
}

BlockReader::BlockReader(Bytes block, ByteOrder record_order) : record_order_(record_order) {
  Column all{block.data(), block.data() + block.size()};
  events_ = all.varint();
  ticks_ = all.varint();
  tid_offset_ = all.varint();
  for (unsigned& shift : shifts_) {
    shift = all.byte();
    if (shift > 63) throw Error("A block's address alignment is impossible");
  }
  Column dictionary;
  Column lost;
  for (Column* column : {&times_, &shape_column_, &dictionary, &tasks_, &recency_, &addresses_, &literals_, &lost}) {
    const Bytes bytes = all.bytes(all.varint());
    *column = {bytes.data(), bytes.data() + bytes.size()};
  }
  if (events_ > kMostEvents) throw Error("A block claims more events than one can have");
  read_dictionary(dictionary);
  read_lost(lost);
}

void BlockReader::read_dictionary(Column dictionary) {
  while (!dictionary.empty()) {
    if (shapes_.size() == events_) throw Error("A block has more shapes than events");
    Shape shape;
    const std::uint8_t kind = dictionary.byte();
    const std::uint64_t offset = dictionary.varint();
    shape.address_bytes = dictionary.byte();
    shape.record = dictionary.bytes(dictionary.varint());
    const std::uint64_t size = shape.record.size();
    const bool known = kind <= static_cast<std::uint8_t>(AddressKind::page);
    const bool has_address = kind != static_cast<std::uint8_t>(AddressKind::none);
    const unsigned bytes = shape.address_bytes;
    const bool sound = has_address ? bytes == 4 || bytes == 8 : bytes == 0;
    if (!known || !sound || offset > size || bytes > size - offset || tid_offset_ > size || 4 > size - tid_offset_ ||
        size > 0xFFFF)
      throw Error("A block's dictionary is damaged");
    shape.address_kind = static_cast<AddressKind>(kind);
    shape.address_offset = static_cast<std::uint16_t>(offset);
    shapes_.push_back(shape);
  }
}

void BlockReader::read_lost(Column lost) {
  while (!lost.empty()) {
    LostHere here;
    here.before_event = lost.varint();
    const bool ordered = lost_.empty() || here.before_event > lost_.back().before_event;
    if (!ordered || here.before_event > events_) throw Error("A block's losses are not in the order of its events");
    if (const std::uint64_t count = lost.varint(); count > 0) here.count = count - 1;
    lost_.push_back(here);
  }
}

void BlockReader::begin_run() {
  run_left_ = tasks_.varint();
  if (run_left_ == 0) throw_damaged("A block's run of tasks is empty");
  tid_ = static_cast<std::int32_t>(static_cast<std::uint32_t>(tid_) +
                                   static_cast<std::uint32_t>(unzigzag(tasks_.varint())));
}

void BlockReader::next_literal(BlockEvent& event) {
  event.shape = BlockEvent::kLiteral;
  event.literal = literals_.bytes(literals_.varint());
}

void BlockReader::rebuild(const BlockEvent& event, std::vector<std::uint8_t>& record) const {
  const bool literal = event.shape == BlockEvent::kLiteral;
  const Bytes blank = literal ? event.literal : shapes_[event.shape].record;
  record.assign(blank.begin(), blank.end());
  if (record.size() >= 4 && tid_offset_ <= record.size() - 4)
    store(record.data() + tid_offset_, static_cast<std::uint32_t>(event.tid), record_order_);
  if (literal || shapes_[event.shape].address_kind == AddressKind::none) return;
  const Shape& shape = shapes_[event.shape];
  std::uint8_t* const at = record.data() + shape.address_offset;
  if (shape.address_bytes == 4)
    store(at, static_cast<std::uint32_t>(event.address), record_order_);
  else
    store(at, event.address, record_order_);
}

}  // namespace kmt::kmt_format
