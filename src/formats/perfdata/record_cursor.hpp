// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the records of a perf.data in order, including those in compressed records.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_reader.hpp"
#include "formats/perfdata/unpacker.hpp"
#include "trace/imperfections.hpp"

namespace kmt::perfdata {

struct Record {
  std::uint32_t type = 0;
  std::uint16_t misc = 0;
  Bytes payload;   // excludes the header; valid until the next record
  Bytes attached;  // data that follows the record; only for a few of perf's own types
  // Position in the file, in bytes. For a record that was compressed, the position of the PERF_RECORD_COMPRESSED.
  std::uint64_t offset = 0;
  bool is_unpacked = false;  // true if the record was compressed
};

class RecordCursor {
 public:
  // Reads file[begin, end). Ignores compressed records unless `unpack` is set. Damage becomes a finding, and reading
  // continues at the next records. In compressed records it continues at the next zstd stream.
  RecordCursor(Bytes file, std::uint64_t begin, std::uint64_t end, ByteOrder order, bool unpack, Findings& findings);

  bool next(Record& record);
  // Call this if the last record has impossible values. If it was compressed, the rest of the compressed stream is
  // dropped and reported.
  void distrust(const Record& record, const char* what);
  // Returns the current position in the file.
  std::uint64_t position() const { return position_; }

 private:
  bool next_in_file(Record& record);
  bool next_unpacked(Record& record);
  bool attach(Record& record);
  void feed(const Record& record);
  void pass_over_damage();
  void give_up(std::string_view why, std::uint64_t offset);
  void say_left_out();
  void finish();

  // Why the rest of the compressed stream is ignored.
  struct GivenUp {
    std::string why;
    std::uint64_t offset;  // offset of the damage in the file, in bytes
  };

  Bytes file_;
  std::uint64_t position_;
  std::uint64_t end_;
  ByteOrder order_;
  bool unpack_;
  Findings& findings_;
  std::optional<Unpacker> unpacker_;     // set when the first compressed record was read
  std::vector<std::uint8_t> unpacked_;   // unpacked records; the last one may be incomplete
  std::size_t next_ = 0;                 // position in unpacked_
  std::uint64_t compressed_offset_ = 0;  // offset of the current compressed record in the file, in bytes
  std::uint64_t packed_bytes_ = 0;       // size of the current compressed record
  std::optional<GivenUp> given_up_;
  std::uint64_t omitted_ = 0;  // compressed bytes ignored since the damage
};

}  // namespace kmt::perfdata
