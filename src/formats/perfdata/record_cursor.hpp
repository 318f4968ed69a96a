// SPDX-License-Identifier: GPL-2.0-or-later
// The records of a perf.data one after the other, those inside compressed ones included.
#pragma once

#include <cstdint>
#include <optional>
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
};

class RecordCursor {
 public:
  // Reads file[begin, end), which lies within the file. Compressed records are passed over if `unpack` is not set.
  // Damage is skipped up to where records go on, and becomes a finding.
  RecordCursor(Bytes file, std::uint64_t begin, std::uint64_t end, ByteOrder order, bool unpack, Findings& findings);

  bool next(Record& record);
  // How far reading has come in the file.
  std::uint64_t position() const { return position_; }

 private:
  bool next_in_file(Record& record);
  bool next_unpacked(Record& record, bool more_may_come = true);
  bool attach(Record& record);
  void feed(const Record& record);
  void pass_over_damage();
  void find_unpacked(bool more_may_come);
  void damaged_block(const char* what);
  void pass_over_unpacked();

  Bytes file_;
  std::uint64_t position_;
  std::uint64_t end_;
  ByteOrder order_;
  bool unpack_;
  Findings& findings_;
  std::optional<Unpacker> unpacker_;     // once a compressed record has come
  std::vector<std::uint8_t> unpacked_;   // records, the last one maybe not whole yet
  std::size_t next_ = 0;                 // in unpacked_
  bool is_lost_ = false;                 // behind damage: next_ may be anywhere in a record
  std::uint64_t compressed_offset_ = 0;  // of the record that is being unpacked
};

}  // namespace kmt::perfdata
