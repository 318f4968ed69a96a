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
  return is_known_type(header.type) && header.size >= kRecordHeaderBytes &&
         (header.size % 8 == 0 || is_compressed(header.type));
}

// Whether some records follow each other from there, or all that are left. Empty: only more bytes would tell.
std::optional<bool> go_on_from(Bytes bytes, std::uint64_t position, ByteOrder order, bool more_may_come = false) {
  constexpr unsigned kConvincing = 4;
  for (unsigned seen = 0; seen < kConvincing; ++seen) {
    const std::uint64_t left = bytes.size() - position;
    if (left == 0 && !more_may_come) return true;
    const bool has_header = left >= kRecordHeaderBytes;
    const Header header = has_header ? header_at(bytes.data() + position, order) : Header{};
    if (has_header && !looks_like_a_record(header)) return false;
    if (!has_header || header.size > left) return more_may_come ? std::nullopt : std::optional(false);
    position += header.size;
  }
  return true;
}

// Of one file. What perf compresses best, long runs of one event, shrinks to a fiftieth.
std::uint64_t most_unpacked(std::uint64_t file_bytes) { return std::max<std::uint64_t>(64u << 20, 128 * file_bytes); }

}  // namespace

RecordCursor::RecordCursor(Bytes file, std::uint64_t begin, std::uint64_t end, ByteOrder order, bool unpack,
                           Findings& findings)
    : file_(file), position_(begin), end_(end), order_(order), unpack_(unpack), findings_(findings) {}

bool RecordCursor::next(Record& record) {
  while (!next_unpacked(record)) {
    if (!next_in_file(record)) return next_unpacked(record, false);
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

void RecordCursor::pass_over_damage() {
  const std::uint64_t begin = position_;
  do ++position_;
  while (position_ < end_ && go_on_from(file_.first(end_), position_, order_) == false);
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

bool RecordCursor::next_unpacked(Record& record, bool more_may_come) {
  if (!unpacker_) return false;
  for (;;) {
    if (is_lost_) find_unpacked(more_may_come);
    const std::size_t left = unpacked_.size() - next_;
    if (!is_lost_ && left >= kRecordHeaderBytes) {
      const Header header = header_at(unpacked_.data() + next_, order_);
      if (header.size < kRecordHeaderBytes || is_compressed(header.type)) {
        damaged_block("impossible record inside");
        ++next_;
        continue;
      }
      if (header.size <= left) {
        const Bytes whole = Bytes(unpacked_).subspan(next_, header.size);
        record = {header.type, header.misc, whole.subspan(kRecordHeaderBytes), {}, compressed_offset_};
        next_ += header.size;
        return true;
      }
    }
    unpacked_.erase(unpacked_.begin(), unpacked_.begin() + static_cast<std::ptrdiff_t>(next_));
    next_ = 0;
    if (!more_may_come) {
      if (is_lost_ || unpacked_.empty()) return false;
      pass_over_unpacked();
      continue;
    }
    try {
      if (!unpacker_->unpack(unpacked_)) return false;
    } catch (const Error& error) {
      damaged_block(error.what());
      unpacked_.clear();  // the record that had begun in front of the damage has no end
      return false;
    }
  }
}

// Behind damage: where records go on, or where only more bytes would tell.
void RecordCursor::find_unpacked(bool more_may_come) {
  std::optional<bool> found = false;
  for (; next_ < unpacked_.size(); ++next_) {
    found = go_on_from(unpacked_, next_, order_, more_may_come);
    if (found != false) break;
  }
  is_lost_ = found != true;
}

void RecordCursor::damaged_block(const char* what) {
  findings_.add({Imperfection::damaged_record, fmt::format("compressed: {}", what), {}, compressed_offset_, {}});
  is_lost_ = true;
}

// At the end of the file: what is left is no whole record.
void RecordCursor::pass_over_unpacked() {
  const std::size_t left = unpacked_.size();
  is_lost_ = true;
  next_ = 1;
  find_unpacked(false);
  findings_.add({is_lost_ ? Imperfection::truncated_file : Imperfection::damaged_record,
                 is_lost_ ? fmt::format("compressed: its last {} bytes are no whole record", left)
                          : fmt::format("compressed: {} bytes skipped", next_),
                 {},
                 compressed_offset_,
                 {}});
}

}  // namespace kmt::perfdata
