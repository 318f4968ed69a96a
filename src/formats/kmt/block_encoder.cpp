// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/kmt/block_encoder.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/varint.hpp"
#include "formats/ftrace/record_decoder.hpp"
#include "formats/kmt/layout.hpp"

namespace kmt::kmt_format {

namespace {

// Columns of at least this size get codes of their own. Smaller columns have too few numbers, because zstd also has to
// store the codes.
constexpr std::size_t kLargeColumn = 1024;

struct AddressField {
  const char* event;
  const char* field;
  AddressKind kind;
  bool allocates = false;
};
// The fields with the address of the allocated or freed memory (include/trace/events/kmem.h).
constexpr AddressField kAddressFields[] = {
    {"kmalloc", "ptr", AddressKind::slab, true},
    {"kmalloc_node", "ptr", AddressKind::slab, true},
    {"kfree", "ptr", AddressKind::slab},
    {"kmem_cache_alloc", "ptr", AddressKind::slab, true},
    {"kmem_cache_alloc_node", "ptr", AddressKind::slab, true},
    {"kmem_cache_free", "ptr", AddressKind::slab},
    {"mm_page_alloc", "pfn", AddressKind::page, true},
    {"mm_page_free", "pfn", AddressKind::page},
    {"mm_page_free_batched", "pfn", AddressKind::page},
    {"mm_page_alloc_zone_locked", "pfn", AddressKind::page},
    {"mm_page_pcpu_drain", "pfn", AddressKind::page},
    {"mm_page_alloc_extfrag", "pfn", AddressKind::page},
};

RecordLayout layout_of(const EventFormat& format) {
  RecordLayout layout;
  layout.field_mask.assign(2, 0xFF);  // the event ID is kept, even if the format does not describe it
  for (const FormatField& field : format.fields) {
    if (field.size == 0 || field.is_relative) layout.rest_is_data = true;
    if (field.size == 0 || field.offset > 0x7FFF || field.size > 0x7FFF) continue;
    const std::size_t end = field.offset + field.size;
    if (layout.field_mask.size() < end) layout.field_mask.resize(end);
    std::fill(layout.field_mask.begin() + field.offset, layout.field_mask.begin() + static_cast<std::ptrdiff_t>(end),
              std::uint8_t{0xFF});
    if (field.is_dynamic && field.size == 4) layout.dynamic_offsets.push_back(static_cast<std::uint16_t>(field.offset));
  }
  if (format.system == "ftrace" && (format.name == "kernel_stack" || format.name == "user_stack")) {
    // Store stacks as shapes, because most stacks occur many times. All bytes up to the record's end are data: a stack
    // may have more addresses than its format declares (caller[8] in kernel/trace/trace_entries.h, Linux 6.1).
    layout.shaped = true;
    layout.rest_is_data = true;
  }
  if (format.system != "kmem") return layout;
  for (const AddressField& wanted : kAddressFields) {
    const FormatField* const field = format.name == wanted.event ? format.field(wanted.field) : nullptr;
    if (field == nullptr || (field->size != 4 && field->size != 8) || field->offset > 0x7FFF) continue;
    layout.shaped = true;
    layout.shortest = layout.field_mask.size();
    layout.address_kind = wanted.kind;
    layout.allocates = wanted.allocates;
    layout.address_offset = static_cast<std::uint16_t>(field->offset);
    layout.address_bytes = static_cast<std::uint8_t>(field->size);
  }
  return layout;
}

}  // namespace

RecordLayouts::RecordLayouts(const std::vector<EventFormat>& formats, ByteOrder order) : order_(order) {
  for (const EventFormat& format : formats) {
    if (layouts_.size() <= format.id) {
      layouts_.resize(format.id + 1);
      described_.resize(format.id + 1);
    }
    layouts_[format.id] = layout_of(format);
    described_[format.id] = true;
    if (const FormatField* pid = format.field("common_pid"); pid != nullptr && pid->size == 4 && pid->offset <= 0x7FFF)
      tid_offset_ = static_cast<std::uint16_t>(pid->offset);
  }
}

const RecordLayout* RecordLayouts::of(Bytes record) const {
  if (record.size() < 2) return nullptr;
  const unsigned id = load<std::uint16_t>(record.data(), order_);
  return id < layouts_.size() && described_[id] ? &layouts_[id] : nullptr;
}

BlockEncoder::BlockEncoder(const RecordLayouts& layouts) : layouts_(layouts) {}

// Copies the record to scratch_ and zeroes all bytes outside fields. The kernel leaves old bytes of the ring buffer
// there, which would make every record's shape different.
void BlockEncoder::canonicalize(const RecordLayout& layout, Bytes record) {
  scratch_.assign(record.begin(), record.end());
  const std::size_t fixed = std::min(layout.field_mask.size(), record.size());
  std::uint8_t* const bytes = scratch_.data();
  const std::uint8_t* const mask = layout.field_mask.data();
  for (std::size_t i = 0; i < fixed; ++i) bytes[i] &= mask[i];
  std::size_t end = layout.rest_is_data ? record.size() : fixed;
  for (const std::uint16_t offset : layout.dynamic_offsets) {
    if (offset + 4u > record.size()) continue;
    const auto where = load<std::uint32_t>(record.data() + offset, layouts_.order());
    end = std::max<std::size_t>(end, std::min<std::size_t>((where & 0xFFFF) + (where >> 16), record.size()));
  }
  std::fill(scratch_.begin() + static_cast<std::ptrdiff_t>(end), scratch_.end(), std::uint8_t{0});
}

// Returns the number of the shape that is in scratch_. Adds a new shape to the dictionary.
std::uint32_t BlockEncoder::shape_of(const RecordLayout& layout) {
  for (std::uint64_t key = XXH3_64bits_withSeed(scratch_.data(), scratch_.size(), kHashSeed);; ++key) {
    const auto [id, inserted] = shape_ids_.insert(key);
    if (!inserted) {
      const Shape& known = shapes_[*id];
      if (known.size == scratch_.size() &&
          std::memcmp(dictionary_.data() + known.begin, scratch_.data(), known.size) == 0)
        return *id;
      continue;
    }
    *id = static_cast<std::uint32_t>(shapes_.size());
    dictionary_.push_back(static_cast<std::uint8_t>(layout.address_kind));
    append_varint(dictionary_, layout.address_offset);
    dictionary_.push_back(layout.address_bytes);
    append_varint(dictionary_, scratch_.size());
    shapes_.push_back({layout.address_kind, 0, dictionary_.size(), scratch_.size()});
    dictionary_.insert(dictionary_.end(), scratch_.begin(), scratch_.end());
    return *id;
  }
}

void BlockEncoder::add(std::uint64_t ticks, Bytes record) {
  times_.add(ticks);
  ++events_;

  const RecordLayout* const layout = layouts_.of(record);
  const std::uint16_t tid_offset = layouts_.tid_offset();
  const bool has_tid = record.size() >= tid_offset + 4u;
  add_tid(has_tid ? static_cast<std::int32_t>(load<std::uint32_t>(record.data() + tid_offset, layouts_.order())) : 0);

  if (layout == nullptr || !layout->shaped || !has_tid || record.size() < layout->shortest || record.size() > 0xFFFF) {
    scratch_.assign(record.begin(), record.end());
    if (has_tid) std::fill_n(scratch_.begin() + tid_offset, 4, std::uint8_t{0});
    append_varint(shape_column_, 0);
    append_varint(literals_, scratch_.size());
    literals_.insert(literals_.end(), scratch_.begin(), scratch_.end());
    return;
  }

  const bool has_address = layout->address_kind != AddressKind::none;
  const std::uint64_t address =
      has_address ? load_sized(record.data() + layout->address_offset, layout->address_bytes, layouts_.order()) : 0;
  canonicalize(*layout, record);
  std::fill_n(scratch_.begin() + tid_offset, 4, std::uint8_t{0});
  std::fill_n(scratch_.begin() + layout->address_offset, layout->address_bytes, std::uint8_t{0});
  const std::uint32_t shape = shape_of(*layout);
  append_varint(shape_column_, std::uint64_t{shape} + 1);
  if (has_address) add_address(shapes_[shape], address);
  const bool is_nothing =
      layout->address_kind == AddressKind::page ? is_no_page(address, layout->address_bytes) : address == 0;
  if (layout->allocates && is_nothing) ++failed_allocations_;
}

void BlockEncoder::add_tid(std::int32_t tid) {
  if (run_length_ > 0 && tid != run_tid_) {
    append_varint(tasks_, run_length_);
    append_varint(tasks_, zigzag(std::int64_t{run_tid_} - run_base_));
    run_base_ = run_tid_;
    run_length_ = 0;
  }
  run_tid_ = tid;
  ++run_length_;
}

void BlockEncoder::add_address(Shape& shape, std::uint64_t address) {
  const unsigned list = shape.address_kind == AddressKind::page ? 1 : 0;
  const unsigned at = recent_[list].find_and_move(address);
  if (at < RecencyList::kSize) {
    recency_.push_back(static_cast<std::uint8_t>(at + 1));
  } else {
    recency_.push_back(0);
    far_kinds_.push_back(static_cast<std::uint8_t>(list));
    far_addresses_[list].push_back(static_cast<std::int64_t>(address - shape.last_address));
  }
  shape.last_address = address;
}

void BlockEncoder::add_lost(std::optional<std::uint64_t> count) {
  if (!lost_.empty() && lost_.back().before_event == events_) {
    std::optional<std::uint64_t>& here = lost_.back().count;
    here = here && count ? std::optional(*here + *count) : std::nullopt;
    return;
  }
  lost_.push_back({events_, count});
}

std::size_t BlockEncoder::plain_bytes() const {
  return times_.bytes() + shape_column_.size() + dictionary_.size() + tasks_.size() + recency_.size() +
         literals_.size() + 4 * far_kinds_.size();
}

EventBlock BlockEncoder::finish() {
  if (run_length_ > 0) {
    append_varint(tasks_, run_length_);
    append_varint(tasks_, zigzag(std::int64_t{run_tid_} - run_base_));
  }
  // Shifts out the low bits that are 0 in all differences, so that the numbers get shorter. Objects are aligned, so
  // these bits are usually 0.
  unsigned shifts[2] = {};
  for (unsigned list = 0; list < 2; ++list) {
    std::uint64_t bits = 0;
    for (const std::int64_t difference : far_addresses_[list]) bits |= static_cast<std::uint64_t>(difference);
    shifts[list] = bits == 0 ? 0 : static_cast<unsigned>(std::countr_zero(bits));
  }
  Column addresses;
  std::size_t next[2] = {};
  for (const std::uint8_t list : far_kinds_)
    append_varint(addresses, zigzag(far_addresses_[list][next[list]++] >> shifts[list]));

  Column lost;
  for (const Lost& here : lost_) {
    append_varint(lost, here.before_event);
    append_varint(lost, here.count ? *here.count + 1 : 0);
  }

  EventBlock block{{}, {}, events_, times_.first_ticks(), times_.last_ticks()};
  Column& bytes = block.bytes;
  bytes.reserve(plain_bytes() + addresses.size() + lost.size() + 64);
  append_varint(bytes, events_);
  append_varint(bytes, times_.first_ticks());
  append_varint(bytes, layouts_.tid_offset());
  bytes.push_back(static_cast<std::uint8_t>(shifts[0] | kTimesInSteps));
  bytes.push_back(static_cast<std::uint8_t>(shifts[1]));
  append_varint(bytes, times_.step());
  for (const Bytes column : {times_.codes(), times_.low_bits(), Bytes(shape_column_), Bytes(dictionary_), Bytes(tasks_),
                             Bytes(recency_), Bytes(addresses), Bytes(literals_), Bytes(lost)}) {
    append_varint(bytes, column.size());
    bytes.insert(bytes.end(), column.begin(), column.end());
    if (column.size() >= kLargeColumn) block.column_ends.push_back(bytes.size());
  }
  reset();
  return block;
}

void BlockEncoder::reset() {
  events_ = failed_allocations_ = 0;
  times_.reset();
  shape_ids_ = {};
  shapes_.clear();
  run_tid_ = run_base_ = 0;
  run_length_ = 0;
  for (RecencyList& list : recent_) list = {};
  for (auto& differences : far_addresses_) differences.clear();
  far_kinds_.clear();
  lost_.clear();
  for (Column* column : {&shape_column_, &dictionary_, &tasks_, &recency_, &literals_}) column->clear();
}

}  // namespace kmt::kmt_format
