// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/kmt/records.hpp"

#include "base/error.hpp"
#include "formats/kmt/block_reader.hpp"
#include "formats/kmt/file.hpp"

namespace kmt::kmt_format {

namespace {

// Passes the records of a block to a sink. Errors from reading become findings, but errors from the sink are thrown.
class Block {
 public:
  Block(const Chunk& chunk, const RecordStream& stream, ByteOrder order, Findings& findings)
      : chunk_(chunk), stream_(stream), findings_(findings) {
    attempt([&] {
      plain_ = unpack(chunk);
      reader_.emplace(plain_, order);
    });
  }

  void give(RecordSink& sink) {
    if (!reader_) return;
    BlockEvent event;
    std::vector<std::uint8_t> record;
    for (std::uint64_t position = 0; next(event); ++position) {
      give_lost_before(position, sink);
      reader_->rebuild(event, record);
      sink.record(event.ticks, record);
    }
    give_lost_before(~std::uint64_t{0}, sink);
  }

 private:
  bool next(BlockEvent& event) {
    bool found = false;
    attempt([&] { found = reader_->next(event); });
    return found;
  }

  void give_lost_before(std::uint64_t position, RecordSink& sink) {
    const std::vector<LostHere>& lost = reader_->lost();
    for (; next_lost_ < lost.size() && lost[next_lost_].before_event <= position; ++next_lost_)
      sink.lost(lost[next_lost_].count);
  }

  template <typename Step>
  void attempt(Step&& step) {
    try {
      step();
    } catch (const Error& error) {
      findings_.add({Imperfection::damaged_block, error.what(), stream_.cpu, chunk_.offset});
    }
  }

  const Chunk& chunk_;
  const RecordStream& stream_;
  Findings& findings_;
  std::vector<std::uint8_t> plain_;
  std::optional<BlockReader> reader_;
  std::size_t next_lost_ = 0;
};

}  // namespace

void read_records(const TraceFile& file, RecordSink& sink, Findings& findings) {
  const FileContents contents = parse_trace(file.bytes, findings);
  sink.describe(contents.description);
  for (const auto& [number, blocks] : contents.streams) {
    sink.begin_stream(blocks.stream);
    for (const Chunk& chunk : blocks.blocks)
      Block(chunk, blocks.stream, contents.description.kernel.byte_order, findings).give(sink);
    sink.end_stream();
  }
}

RecordWriter::RecordWriter(const std::string& path, const Findings& findings, const Packing& packing)
    : path_(path), findings_(findings), packing_(packing) {}

void RecordWriter::describe(const TraceDescription& description) {
  file_.emplace(path_, Replaced::removed, kFeatureSteps);
  file_->append_description(description);
  for (const StateSample& sample : description.samples) file_->append_sample(sample);
  Findings ignored;  // readers of the trace report these findings again
  layouts_ = std::make_unique<RecordLayouts>(parse_event_formats(description.kernel.formats, ignored),
                                             description.kernel.byte_order);
  encoder_ = std::make_unique<BlockEncoder>(*layouts_);
}

void RecordWriter::begin_stream(const RecordStream& stream) {
  std::uint16_t& number = streams_[{stream.cpu, stream.buffer}];
  if (!stream.goes_on) number = file_->append_stream(stream);
  stream_ = number;
}

void RecordWriter::record(std::uint64_t ticks, Bytes record) {
  encoder_->add(ticks, record);
  if (is_full(*encoder_, packing_)) end_block();
}

void RecordWriter::lost(std::optional<std::uint64_t> count) { encoder_->add_lost(count); }

void RecordWriter::end_block() { file_->append(pack(stream_, encoder_->finish(), packing_)); }

void RecordWriter::end_stream() {
  if (!encoder_->empty()) end_block();
}

void RecordWriter::finish() {
  if (const std::string found = inherited_findings(findings_); !found.empty())
    file_->append(pack(kFacts, 0, encode_fact("cpu_stats", found)));
  file_->finish();
}

}  // namespace kmt::kmt_format
