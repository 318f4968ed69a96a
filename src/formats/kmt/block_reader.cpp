// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/kmt/block_reader.hpp"

#include <algorithm>

#include "base/arithmetic/size.hpp"
#include "base/error.hpp"
#include "base/varint.hpp"
#include "formats/kmt/layout.hpp"

namespace kmt::kmt_format {

namespace {

[[noreturn]] void throw_damaged(const char* what) { throw Error(what); }

}  // namespace

BlockReader::BlockReader(Bytes block, ByteOrder record_order) : record_order_(record_order) {
  Column all{block.data(), block.data() + block.size()};
  const auto next_column = [&all]() -> Column {
    const Bytes bytes = all.bytes(all.varint());
    return {bytes.data(), bytes.data() + bytes.size()};
  };
  events_ = all.varint();
  const std::uint64_t first_ticks = all.varint();
  tid_offset_ = all.varint();
  for (unsigned& shift : shifts_) shift = all.byte();
  const bool in_steps = (shifts_[0] & kTimesInSteps) != 0;
  shifts_[0] &= ~unsigned{kTimesInSteps};
  if (shifts_[0] > 63 || shifts_[1] > 63) throw Error("A block's address alignment is impossible");
  const std::uint64_t step = in_steps ? all.varint() : 0;
  if (in_steps && step < kOneTick) throw Error("A block's clock has steps that are shorter than a tick");
  const Column times = next_column();
  times_ = {first_ticks, step, times, in_steps ? next_column() : Column{}};
  Column dictionary;
  Column lost;
  for (Column* column : {&shape_column_, &dictionary, &tasks_, &recency_, &addresses_, &literals_, &lost})
    *column = next_column();
  if (events_ > kMostEvents) throw Error("A block states more events than a block can have");
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

inline std::uint64_t BlockReader::next_address(Shape& shape, Column& recency, Column& addresses) {
  const unsigned list = shape.address_kind == AddressKind::page ? 1 : 0;
  const unsigned at = recency.byte();
  if (at > RecencyList::kSize) throw_damaged("A block refers to a recent address that does not exist");
  if (at > 0) return shape.last_address = recent_[list].take(at - 1);
  const std::uint64_t address =
      shape.last_address + (static_cast<std::uint64_t>(unzigzag(addresses.varint())) << shifts_[list]);
  recent_[list].insert(address);
  return shape.last_address = address;
}

// Reads the times of the next events, and returns their number. If the block is damaged, this number is smaller than
// events.size().
std::size_t BlockReader::read_times(std::span<BlockEvent> events) {
  std::size_t count = 0;
  TimeDecoder times = times_;
  try {
    for (; count < events.size(); ++count) events[count].ticks = times.next();
  } catch (const Error& error) {
    if (count == 0) throw;
    damage_ = error.what();
  }
  times_ = times;
  return count;
}

// Reads the next events. Values that change with every event are in local variables, because the loops here and in
// read_times() take most of the time of reading a trace.
std::size_t BlockReader::read(std::span<BlockEvent> events) {
  if (!damage_.empty()) throw Error(damage_);
  const std::size_t wanted =
      read_times(events.first(to_size(std::min<std::uint64_t>(events.size(), events_ - position_))));
  std::size_t count = 0;
  Column numbers = shape_column_;
  Column recency = recency_;
  Column addresses = addresses_;
  const std::span<Shape> shapes = shapes_;
  try {
    for (; count < wanted; ++count) {
      BlockEvent& event = events[count];
      if (run_left_ == 0) begin_run();
      --run_left_;
      event.tid = tid_;
      const std::uint64_t number = numbers.varint();
      if (number == 0) {
        event.shape = BlockEvent::kLiteral;
        event.literal = literals_.bytes(literals_.varint());
        continue;
      }
      if (number > shapes.size()) throw_damaged("A block refers to a shape that it does not have");
      event.shape = static_cast<std::uint32_t>(number - 1);
      Shape& shape = shapes[event.shape];
      event.address = shape.address_kind == AddressKind::none ? 0 : next_address(shape, recency, addresses);
    }
  } catch (const Error& error) {
    if (count == 0) throw;
    damage_ = error.what();
  }
  position_ += count;
  shape_column_ = numbers;
  recency_ = recency;
  addresses_ = addresses;
  return count;
}

void BlockReader::begin_run() {
  run_left_ = tasks_.varint();
  if (run_left_ == 0) throw_damaged("A block's run of tasks is empty");
  tid_ = static_cast<std::int32_t>(static_cast<std::uint32_t>(tid_) +
                                   static_cast<std::uint32_t>(unzigzag(tasks_.varint())));
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
