// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a relay file record by record. After damage, it finds the next position with records.
#pragma once

#include <cstdint>

#include "base/arithmetic/size.hpp"
#include "formats/relay/layout.hpp"

namespace kmt::relay {

// The bytes at one position of the file: a record, or something else.
struct Step {
  enum class Kind : std::uint8_t {
    record,
    null,  // zeros instead of an event that relay could not write
    torn,  // damaged bytes; long damage is split into several steps
  };
  Kind kind = Kind::record;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

class Walker {
 public:
  // `offset` is where to start; a record must start there.
  Walker(Bytes data, const Abi& abi, std::uint64_t offset = 0) : data_(data), abi_(abi), offset_(offset) {}

  bool next(Step& step);  // returns false at the end of the data
  Bytes bytes_of(const Step& step) const { return data_.subspan(to_size(step.offset), to_size(step.bytes)); }

 private:
  Bytes rest_from(std::uint64_t offset) const { return data_.subspan(to_size(offset)); }
  bool is_record(Bytes rest, std::size_t size) const;
  bool is_null(Bytes rest) const;
  bool begins_records(std::uint64_t offset) const;
  std::uint64_t next_records() const;

  Bytes data_;
  Abi abi_;
  std::uint64_t offset_;
  bool in_sync_ = true;
};

}  // namespace kmt::relay
