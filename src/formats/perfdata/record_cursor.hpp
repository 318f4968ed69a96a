// SPDX-License-Identifier: GPL-2.0-or-later
// The records of a perf.data one after the other, those inside compressed ones included.
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
  Bytes payload;             // behind the header; valid until the next record is asked for
  Bytes attached;            // what a few of perf's own records have behind them
  std::uint64_t offset = 0;  // in the file; of what was compressed, that of the compressed record
  bool is_unpacked = false;  // was compressed
};

class RecordCursor {
 public:
  // Reads file[begin, end), which lies within the file. Compressed records are passed over if `unpack` is not set.
  // Damage is skipped up to where records go on, in compressed ones up to where a zstd stream begins, and becomes a
  // finding.
  RecordCursor(Bytes file, std::uint64_t begin, std::uint64_t end, ByteOrder order, bool unpack, Findings& findings);

  bool next(Record& record);
  // What the last record says cannot be: if it was compressed, nothing more of its stream is read.
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

  // The compressed stream behind damage.
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
  std::optional<Unpacker> unpacker_;     // once a compressed record has come
  std::vector<std::uint8_t> unpacked_;   // records, the last one maybe not whole yet
  std::size_t next_ = 0;                 // in unpacked_
  std::uint64_t compressed_offset_ = 0;  // of the record that is being unpacked
  std::uint64_t packed_bytes_ = 0;       // of that record
  std::optional<GivenUp> given_up_;
  std::uint64_t left_out_ = 0;  // compressed bytes since
};

}  // namespace kmt::perfdata
