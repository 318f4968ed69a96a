// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/perfdata/record_cursor.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "formats/perfdata/layout.hpp"

namespace kmt::perfdata {

namespace {

struct Header {
  std::uint32_t type;
  std::uint16_t misc;
  std::uint16_t size;  // with the header
};

Header header_at(const std::uint8_t* at, ByteOrder order) {
  return {load<std::uint32_t>(at, order), load<std::uint16_t>(at + 4, order), load<std::uint16_t>(at + 6, order)};
}

bool is_compressed(std::uint32_t type) { return type == kCompressed || type == kCompressed2; }

// By which records are found again behind damage. All have whole words but compressed ones.
bool looks_like_a_record(const Header& header) {
  const bool known = (header.type > 0 && header.type <= kLastKernelType) ||
                     (header.type >= kUserTypes && header.type <= kLastUserType);
  return known && header.size >= kRecordHeaderBytes && (header.size % 8 == 0 || is_compressed(header.type));
}

// Of one file. What perf compresses best, long runs of one event, shrinks to a fiftieth.
std::uint64_t most_unpacked(std::uint64_t file_bytes) { return std::max<std::uint64_t>(64u << 20, 128 * file_bytes); }

}  // namespace

RecordCursor::RecordCursor(Bytes file, std::uint64_t begin, std::uint64_t end, ByteOrder order, bool unpack,
                           Findings& findings)
    : file_(file), position_(begin), end_(end), order_(order), unpack_(unpack), findings_(findings) {}

bool RecordCursor::next(Record& record) {
  while (!next_unpacked(record)) {
    if (!next_in_file(record)) return false;
    if (!is_compressed(record.type)) return true;
    if (unpack_) feed(record);
  }
  return true;
}

bool RecordCursor::next_in_file(Record& record) {
  for (;;) {
    if (position_ == end_) return false;
    const std::uint64_t left = end_ - position_;
    if (left >= kRecordHeaderBytes) {
      const Header header = header_at(file_.data() + position_, order_);
      if (header.size >= kRecordHeaderBytes && header.size <= left) {
        record = {header.type,
                  header.misc,
                  file_.subspan(position_ + kRecordHeaderBytes, header.size - kRecordHeaderBytes),
                  {},
                  position_};
        position_ += header.size;
        if (attach(record)) return true;
        position_ = record.offset;
      }
    }
    pass_over_damage();
  }
}

// What these records say of their own size does not fit into their header. False when it is not there.
bool RecordCursor::attach(Record& record) {
  std::uint64_t bytes = 0;
  if (record.type == kHeaderTracingData && record.payload.size() >= 4)
    bytes = (std::uint64_t{load<std::uint32_t>(record.payload.data(), order_)} + 7) / 8 * 8;
  else if (record.type == kAuxtrace && record.payload.size() >= 8)
    bytes = load<std::uint64_t>(record.payload.data(), order_);
  if (bytes > end_ - position_) return false;
  record.attached = file_.subspan(position_, bytes);
  position_ += bytes;
  return true;
}

// Whether some records follow each other from there, or all that are left.
bool RecordCursor::go_on_from(std::uint64_t position) const {
  constexpr unsigned kConvincing = 4;
  for (unsigned seen = 0; seen < kConvincing && position != end_; ++seen) {
    if (end_ - position < kRecordHeaderBytes) return false;
    const Header header = header_at(file_.data() + position, order_);
    if (!looks_like_a_record(header) || header.size > end_ - position) return false;
    position += header.size;
  }
  return true;
}

void RecordCursor::pass_over_damage() {
  const std::uint64_t begin = position_;
  do ++position_;
  while (position_ < end_ && !go_on_from(position_));
  // Without anything behind it, it is a record that was not written to its end, or looks so.
  const bool cut_off = position_ == end_;
  std::string detail = cut_off ? fmt::format("its last {} bytes are no whole record", position_ - begin)
                               : fmt::format("{} bytes skipped", position_ - begin);
  findings_.add(
      {cut_off ? Imperfection::truncated_file : Imperfection::damaged_record, std::move(detail), {}, begin, {}});
}

void RecordCursor::feed(const Record& record) {
  Bytes packed = record.payload;
  compressed_offset_ = record.offset;
  if (record.type == kCompressed2) {
    if (packed.size() < 8) return damaged_block("no size");
    const auto bytes = load<std::uint64_t>(packed.data(), order_);
    if (bytes > packed.size() - 8) return damaged_block("impossible size");
    packed = packed.subspan(8, bytes);
  }
  if (!unpacker_) unpacker_.emplace(most_unpacked(file_.size()));
  unpacker_->feed(packed);
}

// Behind damage, the record that had begun in front of it has no end.
void RecordCursor::damaged_block(const char* what) {
  findings_.add({Imperfection::damaged_record, fmt::format("compressed: {}", what), {}, compressed_offset_, {}});
  unpacked_.clear();
  next_ = 0;
}

bool RecordCursor::next_unpacked(Record& record) {
  if (!unpacker_) return false;
  for (;;) {
    const std::size_t left = unpacked_.size() - next_;
    if (left >= kRecordHeaderBytes) {
      const Header header = header_at(unpacked_.data() + next_, order_);
      if (header.size < kRecordHeaderBytes || is_compressed(header.type)) {
        damaged_block("impossible record inside");
      } else if (header.size <= left) {
        const Bytes whole = Bytes(unpacked_).subspan(next_, header.size);
        record = {header.type, header.misc, whole.subspan(kRecordHeaderBytes), {}, compressed_offset_};
        next_ += header.size;
        return true;
      }
    }
    unpacked_.erase(unpacked_.begin(), unpacked_.begin() + static_cast<std::ptrdiff_t>(next_));
    next_ = 0;
    try {
      if (!unpacker_->unpack(unpacked_)) return false;
    } catch (const Error& error) {
      damaged_block(error.what());
      return false;
    }
  }
}

}  // namespace kmt::perfdata
