// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/perfdata/record_cursor.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/arithmetic/size.hpp"
#include "base/error.hpp"
#include "formats/perfdata/layout.hpp"

namespace kmt::perfdata {

namespace {

struct Header {
  std::uint32_t type;
  std::uint16_t misc;
  std::uint16_t size;  // bytes, including the header
};

Header header_at(const std::uint8_t* at, ByteOrder order) {
  return {load<std::uint32_t>(at, order), load<std::uint16_t>(at + 4, order), load<std::uint16_t>(at + 6, order)};
}

bool is_compressed(std::uint32_t type) { return type == kCompressed || type == kCompressed2; }

// True if this may be the header of a record. After damage, this is used to find the next record. The sizes of records
// are multiples of 8 bytes, except for compressed records.
bool looks_like_a_record(const Header& header) {
  return is_known_type(header.type) && header.size >= kRecordHeaderBytes &&
         (header.size % 8 == 0 || is_compressed(header.type));
}

// True if the next four records from this position, or all up to the end, have valid headers.
bool records_follow_at(Bytes bytes, std::uint64_t position, ByteOrder order) {
  constexpr unsigned kConvincing = 4;
  for (unsigned seen = 0; seen < kConvincing; ++seen) {
    const std::uint64_t left = bytes.size() - position;
    if (left == 0) return true;
    if (left < kRecordHeaderBytes) return false;
    const Header header = header_at(bytes.data() + position, order);
    if (!looks_like_a_record(header) || header.size > left) return false;
    position += header.size;
  }
  return true;
}

// True if this may be the header of a record that perf has compressed. perf compresses only records of the kernel
// (tools/perf/builtin-record.c, Linux 6.18). Newer kernels may have more types.
bool may_be_compressed(const Header& header) {
  return header.type > 0 && header.type < kUserTypes && header.size >= kRecordHeaderBytes && header.size % 8 == 0;
}

// True if the bytes consist of records. The last record may be incomplete.
bool are_records(Bytes bytes, ByteOrder order) {
  while (bytes.size() >= kRecordHeaderBytes) {
    const Header header = header_at(bytes.data(), order);
    if (!may_be_compressed(header)) return false;
    bytes = bytes.subspan(std::min<std::size_t>(header.size, bytes.size()));
  }
  return true;
}

// Returns the compressed data in a record, or nothing if the record is shorter than it says.
std::optional<Bytes> packed_data(const Record& record, ByteOrder order) {
  if (record.type != kCompressed2) return record.payload;
  if (record.payload.size() < 8) return std::nullopt;
  const auto bytes = load<std::uint64_t>(record.payload.data(), order);
  if (bytes > record.payload.size() - 8) return std::nullopt;
  return record.payload.subspan(8, to_size(bytes));
}

bool begins_stream(Bytes packed) {
  constexpr std::uint8_t kMagic[] = {0x28, 0xB5, 0x2F, 0xFD};  // start of a zstd frame (RFC 8878)
  return packed.size() >= std::size(kMagic) && std::equal(std::begin(kMagic), std::end(kMagic), packed.begin());
}

// Returns a limit for the unpacked size of a file. No real file reaches it: perf compresses a long series of equal
// events, which is the best case, to one fiftieth.
std::uint64_t most_unpacked(std::uint64_t file_bytes) { return std::max<std::uint64_t>(64u << 20, 128 * file_bytes); }

}  // namespace

RecordCursor::RecordCursor(Bytes file, std::uint64_t begin, std::uint64_t end, ByteOrder order, bool unpack,
                           Findings& findings)
    : file_(file), position_(begin), end_(end), order_(order), unpack_(unpack), findings_(findings) {}

bool RecordCursor::next(Record& record) {
  while (!unpacker_ || !next_unpacked(record)) {
    if (!next_in_file(record)) {
      finish();
      return false;
    }
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
                  file_.subspan(to_size(position_ + kRecordHeaderBytes), to_size(header.size - kRecordHeaderBytes)),
                  {},
                  position_,
                  false};
        position_ += header.size;
        if (attach(record)) return true;
        position_ = record.offset;
      }
    }
    pass_over_damage();
  }
}

// Two types of records are followed by data that the size in their header does not include. Sets record.attached to
// this data. Returns false if the data is incomplete.
bool RecordCursor::attach(Record& record) {
  std::uint64_t bytes = 0;
  if (record.type == kHeaderTracingData && record.payload.size() >= 4)
    bytes = (std::uint64_t{load<std::uint32_t>(record.payload.data(), order_)} + 7) / 8 * 8;
  else if (record.type == kAuxtrace && record.payload.size() >= 8)
    bytes = load<std::uint64_t>(record.payload.data(), order_);
  if (bytes > end_ - position_) return false;
  record.attached = file_.subspan(to_size(position_), to_size(bytes));
  position_ += bytes;
  return true;
}

void RecordCursor::pass_over_damage() {
  const std::uint64_t begin = position_;
  do ++position_;
  while (position_ < end_ && !records_follow_at(file_.first(to_size(end_)), position_, order_));
  // true if no record follows, so the last record was not completely written
  const bool cut_off = position_ == end_;
  std::string detail = cut_off ? fmt::format("its last {} bytes are not a complete record", position_ - begin)
                               : fmt::format("{} bytes skipped", position_ - begin);
  findings_.add(
      {cut_off ? Imperfection::truncated_file : Imperfection::damaged_record, std::move(detail), {}, begin, {}});
  // Compressed data may be missing too.
  if (unpacker_) give_up("a part of it may be missing", begin);
}

void RecordCursor::feed(const Record& record) {
  if (!unpacker_) unpacker_.emplace(most_unpacked(file_.size()));
  compressed_offset_ = record.offset;
  packed_bytes_ = record.payload.size();
  const std::optional<Bytes> packed = packed_data(record, order_);
  if (given_up_ && !(packed && begins_stream(*packed))) {
    omitted_ += packed_bytes_;
    return;
  }
  say_left_out();
  if (!packed) return give_up("impossible size", record.offset);
  unpacker_->feed(*packed);
}

bool RecordCursor::next_unpacked(Record& record) {
  for (;;) {
    if (given_up_) return false;
    const std::size_t left = unpacked_.size() - next_;
    if (left >= kRecordHeaderBytes) {
      const Header header = header_at(unpacked_.data() + next_, order_);
      if (header.size <= left) {
        const Bytes whole = Bytes(unpacked_).subspan(next_, header.size);
        record = {header.type, header.misc, whole.subspan(kRecordHeaderBytes), {}, compressed_offset_, true};
        next_ += header.size;
        return true;
      }
    }
    unpacked_.erase(unpacked_.begin(), unpacked_.begin() + static_cast<std::ptrdiff_t>(next_));
    next_ = 0;
    try {
      // Unpack a whole piece first: if it is damaged, even the bytes before the damage may be wrong.
      constexpr std::size_t kMostAhead = 4u << 20;
      const std::size_t before = unpacked_.size();
      while (unpacked_.size() < kMostAhead && unpacker_->unpack(unpacked_)) {
      }
      if (unpacked_.size() == before) return false;
      if (!are_records(unpacked_, order_)) give_up("impossible record inside", compressed_offset_);
    } catch (const Error& error) {
      give_up(error.what(), compressed_offset_);
    }
  }
}

void RecordCursor::distrust(const Record& record, const char* what) {
  if (record.is_unpacked) give_up(what, record.offset);
}

// Ignores the rest of the compressed stream. After damage, all data may be wrong even if it can be unpacked, because
// zstd copies earlier bytes, and the stream has no checksum.
void RecordCursor::give_up(std::string_view why, std::uint64_t offset) {
  if (given_up_) return;
  given_up_ = GivenUp{std::string(why), offset};
  omitted_ = offset == compressed_offset_ ? packed_bytes_ : 0;
}

// Reports the ignored data, and prepares for a new stream. Called when a new stream starts, and at the end of the file.
void RecordCursor::say_left_out() {
  if (!given_up_) return;
  if (omitted_ > 0)
    findings_.add({Imperfection::damaged_section,
                   fmt::format("compressed: {}: {} bytes from there on are left out", given_up_->why, omitted_),
                   {},
                   given_up_->offset});
  given_up_.reset();
  unpacked_.clear();
  next_ = 0;
  unpacker_->restart();
}

void RecordCursor::finish() {
  say_left_out();
  if (!unpacked_.empty())
    findings_.add({Imperfection::truncated_file,
                   fmt::format("compressed: its last {} bytes are not a complete record", unpacked_.size()),
                   {},
                   compressed_offset_});
  unpacked_.clear();
}

}  // namespace kmt::perfdata
