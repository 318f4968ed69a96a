// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/relay/walker.hpp"

#include <algorithm>

namespace kmt::relay {

namespace {

// After damage, records are assumed to continue at a position where this many valid records follow each other.
constexpr unsigned kRecordsInARow = 3;
constexpr std::uint64_t kMostTorn = 64 << 10;  // maximum size of a step of the kind `torn`, in bytes

}  // namespace

bool Walker::next(Step& step) {
  if (offset_ == data_.size()) return false;
  const Bytes rest = rest_from(offset_);
  step = {Step::Kind::torn, offset_, 0};
  const std::optional<std::size_t> size = in_sync_ ? record_bytes(rest, abi_) : std::nullopt;
  if (size && is_record(rest, *size)) {
    step.kind = Step::Kind::record;
    step.bytes = *size;
  } else if (in_sync_ && is_null(rest)) {
    step.kind = Step::Kind::null;
    step.bytes = abi_.layout->alloc_bytes;
  } else {
    step.bytes = next_records() - offset_;
    in_sync_ = begins_records(offset_ + step.bytes);
  }
  offset_ += step.bytes;
  return true;
}

// True if `rest` starts with a record of this size. If another record follows, bytes with impossible values count as a
// record whose values are damaged.
bool Walker::is_record(Bytes rest, std::size_t size) const {
  return is_plausible(parse(rest, abi_)) || size == rest.size() || record_bytes(rest.subspan(size), abi_) ||
         is_null(rest.subspan(size));
}

bool Walker::is_null(Bytes rest) const {
  const std::size_t size = abi_.layout->alloc_bytes;
  return abi_.layout->has_null_records && rest.size() >= size &&
         std::ranges::all_of(rest.first(size), [](std::uint8_t byte) { return byte == 0; });
}

bool Walker::begins_records(std::uint64_t offset) const {
  unsigned found = 0;
  while (found < kRecordsInARow && data_.size() - offset >= abi_.layout->free_bytes) {
    const Bytes rest = rest_from(offset);
    const std::optional<std::size_t> size = record_bytes(rest, abi_);
    if (!size || !is_plausible(parse(rest, abi_))) return false;
    offset += *size;
    ++found;
  }
  return found > 0;
}

// Returns the next position where records start. If there is none within kMostTorn bytes, returns the end of this
// range. The next step then continues the search.
std::uint64_t Walker::next_records() const {
  const std::uint64_t end = std::min<std::uint64_t>(data_.size(), offset_ + kMostTorn);
  for (std::uint64_t offset = offset_ + 1; offset < end; ++offset)
    if (begins_records(offset)) return offset;
  return end;
}

}  // namespace kmt::relay
