// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/kmt/block_reader.hpp"

#include "base/error.hpp"
#include "base/varint.hpp"
#include "formats/kmt/layout.hpp"

namespace kmt::kmt_format {

std::uint64_t BlockReader::Column::varint() {
  std::uint64_t value = 0;
  if (!read_varint(at, end, value)) throw Error("A block's column ends too early");
  return value;
}

std::uint8_t BlockReader::Column::byte() {
  if (at == end) throw Error("A block's column ends too early");
  return *at++;
}

Bytes BlockReader::Column::bytes(std::uint64_t count) {
  if (count > static_cast<std::uint64_t>(end - at)) throw Error("A block's column ends too early");
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
  last_addresses_.resize(shapes_.size());
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

bool BlockReader::next(BlockEvent& event) {
  if (position_ == events_) return false;
  ++position_;
  ticks_ += times_.varint();
  event.ticks = ticks_;
  if (run_left_ == 0) {
    run_left_ = tasks_.varint();
    if (run_left_ == 0) throw Error("A block's run of tasks is empty");
    tid_ = static_cast<std::int32_t>(static_cast<std::uint32_t>(tid_) +
                                     static_cast<std::uint32_t>(unzigzag(tasks_.varint())));
  }
  --run_left_;
  event.tid = tid_;
  const std::uint64_t shape = shape_column_.varint();
  if (shape == 0) {
    event.shape = BlockEvent::kLiteral;
    event.literal = literals_.bytes(literals_.varint());
    return true;
  }
  if (shape > shapes_.size()) throw Error("A block names a shape that it has not");
  event.shape = static_cast<std::uint32_t>(shape - 1);
  event.address = shapes_[event.shape].address_kind == AddressKind::none ? 0 : next_address(event.shape);
  return true;
}

std::uint64_t BlockReader::next_address(std::uint32_t shape) {
  const unsigned list = shapes_[shape].address_kind == AddressKind::page ? 1 : 0;
  std::uint64_t& last = last_addresses_[shape];
  const unsigned at = recency_.byte();
  if (at > RecencyList::kSize) throw Error("A block names an address that is not recent");
  if (at > 0) return last = recent_[list].take(at - 1);
  const auto difference = static_cast<std::uint64_t>(unzigzag(addresses_.varint())) << shifts_[list];
  last += difference;
  recent_[list].insert(last);
  return last;
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
