// SPDX-License-Identifier: GPL-2.0-or-later
// Converts .kmt from and to raw records.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "formats/kmt/block_encoder.hpp"
#include "formats/kmt/file_writer.hpp"
#include "formats/record_stream.hpp"

namespace kmt::kmt_format {

void read_records(const TraceFile& file, RecordSink& sink, Findings& findings);

class RecordWriter : public RecordSink {
 public:
  // finish() writes `findings`, which are about the source trace. They must outlive this object.
  RecordWriter(const std::string& path, const Findings& findings, const Packing& packing = kForRecording);
  void describe(const TraceDescription& description) override;
  void begin_stream(const RecordStream& stream) override;
  void record(std::uint64_t ticks, Bytes record) override;
  void lost(std::optional<std::uint64_t> count) override;
  void end_stream() override;
  void finish();

 private:
  void end_block();

  std::string path_;
  const Findings& findings_;
  Packing packing_;
  std::optional<FileWriter> file_;
  std::unique_ptr<RecordLayouts> layouts_;
  std::unique_ptr<BlockEncoder> encoder_;
  std::map<std::pair<unsigned, std::string>, std::uint16_t> streams_;  // key: CPU and buffer; value: stream number
  std::uint16_t stream_ = 0;
};

}  // namespace kmt::kmt_format
