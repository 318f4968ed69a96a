// SPDX-License-Identifier: GPL-2.0-or-later
// The records of a perf.data in order, including those in compressed records.
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
  Bytes payload;             // without the header; valid until the next record
  Bytes attached;            // data after a few of perf's own records
  std::uint64_t offset = 0;  // in the file; for an unpacked record, that of the compressed one
  bool is_unpacked = false;  // was compressed
};

class RecordCursor {
 public:
  // Reads file[begin, end), which lies within the file. Ignores compressed records unless `unpack` is set. Damage is
  // skipped to the next records, in compressed ones to the next zstd stream, and becomes a finding.
  RecordCursor(Bytes file, std::uint64_t begin, std::uint64_t end, ByteOrder order, bool unpack, Findings& findings);

  bool next(Record& record);
  // Reports impossible values in the last record: if it was compressed, the rest of its stream is ignored.
  void distrust(const Record& record, const char* what);
  // How far reading has come in the file.
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

  // The compressed stream after damage.
  struct GivenUp {
    std::string why;
    std::uint64_t offset;  // in the file
  };

  Bytes file_;
  std::uint64_t position_;
  std::uint64_t end_;
  ByteOrder order_;
  bool unpack_;
  Findings& findings_;
  std::optional<Unpacker> unpacker_;     // from the first compressed record on
  std::vector<std::uint8_t> unpacked_;   // records, the last one maybe incomplete
  std::size_t next_ = 0;                 // in unpacked_
  std::uint64_t compressed_offset_ = 0;  // of the compressed record
  std::uint64_t packed_bytes_ = 0;       // of that record
  std::optional<GivenUp> given_up_;
  std::uint64_t left_out_ = 0;  // compressed bytes since
};

}  // namespace kmt::perfdata
