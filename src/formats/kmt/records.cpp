// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/kmt/records.hpp"

#include "base/error.hpp"
#include "formats/kmt/block_reader.hpp"
#include "formats/kmt/file.hpp"

namespace kmt::kmt_format {

namespace {

// Large enough that a block's dictionary costs nothing an event, small enough to lose little with a block.
constexpr std::uint64_t kBlockEvents = 65536;
constexpr std::size_t kBlockBytes = 4u << 20;

void read_block(const Chunk& chunk, ByteOrder order, RecordSink& sink) {
  const std::vector<std::uint8_t> plain = unpack(chunk);
  BlockReader block(plain, order);
  BlockEvent event;
  std::vector<std::uint8_t> record;
  std::size_t next_lost = 0;
  const auto report_lost_before = [&](std::uint64_t position) {
    for (; next_lost < block.lost().size() && block.lost()[next_lost].before_event <= position; ++next_lost)
      sink.lost(block.lost()[next_lost].count);
  };
  for (std::uint64_t position = 0; block.next(event); ++position) {
    report_lost_before(position);
    block.rebuild(event, record);
    sink.record(event.ticks, record);
  }
  report_lost_before(~std::uint64_t{0});
}

}  // namespace

void read_records(const TraceFile& file, RecordSink& sink, Findings& findings) {
  const FileContents contents = parse_file(file.bytes, findings);
  sink.describe(contents.description);
  for (const auto& [number, blocks] : contents.streams) {
    sink.begin_stream(blocks.stream);
    for (const Chunk& chunk : blocks.blocks) {
      try {
        read_block(chunk, contents.description.kernel.byte_order, sink);
      } catch (const Error& error) {
        findings.add({Imperfection::damaged_block, error.what(), blocks.stream.cpu, chunk.offset, {}});
      }
    }
    sink.end_stream();
  }
}

RecordWriter::RecordWriter(const std::string& path) : file_(path) {}

void RecordWriter::describe(const TraceDescription& description) {
  file_.append_description(description);
  Findings ignored;  // whoever reads the trace finds them again
  layouts_ = std::make_unique<RecordLayouts>(parse_event_formats(description.kernel.formats, ignored),
                                             description.kernel.byte_order);
  encoder_ = std::make_unique<BlockEncoder>(*layouts_);
}

void RecordWriter::begin_stream(const RecordStream& stream) { stream_ = file_.append_stream(stream); }

void RecordWriter::record(std::uint64_t ticks, Bytes record) {
  encoder_->add(ticks, record);
  if (encoder_->events() >= kBlockEvents || encoder_->plain_bytes() >= kBlockBytes) end_block();
}

void RecordWriter::lost(std::optional<std::uint64_t> count) { encoder_->add_lost(count); }

void RecordWriter::end_block() { file_.append_events(stream_, encoder_->finish()); }

void RecordWriter::end_stream() {
  if (!encoder_->empty()) end_block();
}

void RecordWriter::finish() { file_.finish(); }

}  // namespace kmt::kmt_format
