// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/kmt/reader.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.hpp"
#include "formats/cpu_streams.hpp"
#include "formats/ftrace/event_format.hpp"
#include "formats/ftrace/record_decoder.hpp"
#include "formats/ftrace/stack_matcher.hpp"
#include "formats/kmt/block_reader.hpp"
#include "formats/kmt/block_span.hpp"
#include "formats/kmt/file.hpp"
#include "formats/kmt/repair.hpp"
#include "trace/calls/records.hpp"

namespace kmt::kmt_format {

namespace {

constexpr std::size_t kBatchEvents = 256;

// The event of a shape, which is decoded once. For each event of the shape, the reader copies it and sets time, task
// and address.
struct Template {
  Event event{};
  AddressKind address_kind = AddressKind::none;
  std::uint8_t address_bytes = 0;
  bool is_event = false;  // false if each record of the shape must be decoded separately
};

struct OpenBlock {
  OpenBlock(std::vector<std::uint8_t> bytes, ByteOrder order) : plain(std::move(bytes)), reader(plain, order) {}

  std::vector<std::uint8_t> plain;
  BlockReader reader;
  std::vector<Template> templates;  // by shape index
};

class BlockStream : public StackedStream {
 public:
  BlockStream(StreamBlocks blocks, bool cut_off, const ClockScale& clock, RecordDecoder& decoder, TraceInfo& info,
              std::uint64_t& consumed)
      : StackedStream(info, decoder.user_stacks()),
        blocks_(std::move(blocks)),
        cut_off_(cut_off),
        clock_(clock),
        decoder_(decoder),
        info_(info),
        consumed_(consumed) {}

 private:
  bool append(EventBatch& batch) override {
    if (!block_ && !open_next()) {
      if (cut_off_) report_cut_off();
      return false;
    }
    try {
      fill(batch);
    } catch (const Error& error) {
      report_damage(error);
      block_.reset();
    }
    return true;
  }

  unsigned cpu() const { return blocks_.stream.cpu; }

  // Opens the next readable block; false at the end.
  bool open_next() {
    while (next_block_ < blocks_.blocks.size()) {
      const Chunk& chunk = blocks_.blocks[next_block_++];
      offset_ = chunk.offset;
      consumed_ += chunk.stored.size();
      try {
        block_ = std::make_unique<OpenBlock>(unpack(chunk), info_.machine.byte_order);
        decode_shapes();
        position_ = 0;
        next_lost_ = 0;
        return true;
      } catch (const Error& error) {
        report_damage(error);
        block_.reset();
      }
    }
    return false;
  }

  void decode_shapes() {
    for (const Shape& shape : block_->reader.shapes()) {
      EventBatch decoded;
      if (decoder_.is_decoded_by_shape(shape.record)) decoder_.decode(shape.record, 0, cpu(), offset_, decoded);
      block_->templates.push_back(
          {decoded.empty() ? Event{} : decoded.front(), shape.address_kind, shape.address_bytes, !decoded.empty()});
    }
  }

  void fill(EventBatch& batch) {
    const std::size_t count = block_->reader.read(events_);
    if (count == 0) {
      report_lost_before(~std::uint64_t{0}, last_ns_, batch);  // report losses after the last event of the block
      block_.reset();
      return;
    }
    batch.reserve(batch.size() + count);
    const bool has_losses = next_lost_ < block_->reader.lost().size() || !losses_until_now_.empty();
    for (const BlockEvent& next : std::span(events_).first(count)) {
      const std::uint64_t time_ns = clock_.to_ns(next.ticks);
      if (has_losses) {
        report_lost_before(position_, time_ns, batch);
        end_losses(time_ns);
      }
      ++position_;
      if (time_ns < last_ns_) report_backwards(time_ns);
      last_ns_ = time_ns;
      append_event(next, time_ns, batch);
    }
  }

  void append_event(const BlockEvent& next, std::uint64_t time_ns, EventBatch& batch) {
    const Template* const known = next.shape == BlockEvent::kLiteral ? nullptr : &block_->templates[next.shape];
    if (known == nullptr || !known->is_event) {
      block_->reader.rebuild(next, record_);
      decoder_.decode(record_, time_ns, cpu(), offset_, batch);
      return;
    }
    Event& event = batch.emplace_back(known->event);
    event.time_ns = time_ns;
    event.tid = next.tid;
    if (known->address_kind == AddressKind::none) return;
    event.address = next.address;
    if (known->address_kind == AddressKind::page && is_no_page(next.address, known->address_bytes))
      event.address = kNoPage;
  }

  void report_backwards(std::uint64_t time_ns) {
    info_.findings.add(
        {Imperfection::time_goes_backward, fmt::format("by {} ns", last_ns_ - time_ns), cpu(), offset_, time_ns});
  }

  // Reports the lost events before a position of the block. `noticed_ns` is the time of the first event after the loss.
  void report_lost_before(std::uint64_t position, std::uint64_t noticed_ns, const EventBatch& batch) {
    const std::vector<LostHere>& lost = block_->reader.lost();
    for (; next_lost_ < lost.size() && lost[next_lost_].before_event <= position; ++next_lost_) {
      const std::optional<std::uint64_t> count = lost[next_lost_].count;
      lost_at(batch.size());
      losses_until_now_.push_back(info_.losses.intervals.size());
      info_.losses.intervals.push_back({cpu(), count, last_ns_, 0, offset_});
      info_.findings.add({Imperfection::lost_events, lost_events_text(count), cpu(), offset_, noticed_ns},
                         count.value_or(1));
    }
  }

  void end_losses(std::uint64_t time_ns) {
    for (const std::size_t loss : losses_until_now_) info_.losses.intervals[loss].after_ns = time_ns;
    losses_until_now_.clear();
  }

  void report_cut_off() {
    const bool any = !blocks_.blocks.empty();
    info_.findings.add({Imperfection::cut_off_cpu,
                        any ? "its last event in the file" : "no events in the file",
                        cpu(),
                        {},
                        any ? std::optional(last_ns_) : std::nullopt});
  }

  void report_damage(const Error& error) {
    info_.findings.add({Imperfection::damaged_block, error.what(), cpu(), offset_, last_ns_});
    decoder_.forget_values(cpu());
  }

  StreamBlocks blocks_;
  bool cut_off_;
  ClockScale clock_;
  RecordDecoder& decoder_;
  TraceInfo& info_;
  std::uint64_t& consumed_;
  std::unique_ptr<OpenBlock> block_;
  std::array<BlockEvent, kBatchEvents> events_;
  std::vector<std::uint8_t> record_;
  std::size_t next_block_ = 0;
  std::uint64_t offset_ = 0;  // offset of the current block in the file, in bytes
  std::uint64_t position_ = 0;
  std::size_t next_lost_ = 0;
  std::uint64_t last_ns_ = 0;
  std::vector<std::size_t> losses_until_now_;  // indices of TraceLosses::intervals that end at this CPU's next event
};

// For a file whose end is missing, returns the time until which it has the events of all CPUs: the last event time of
// the CPU whose events end first. Empty if other parts may be missing too, or if a CPU has no events.
std::optional<std::uint64_t> complete_until_ns(const FileContents& contents, const TraceMachine& machine) {
  const TraceDescription& description = contents.description;
  if (!contents.cut_off || !names_only_the_end(description.repaired) || contents.streams.size() < machine.cpus)
    return std::nullopt;
  std::uint64_t until_ns = ~std::uint64_t{0};
  for (const auto& [number, blocks] : contents.streams) {
    const BlockSpan last = blocks.blocks.empty() ? BlockSpan{} : span_of(blocks.blocks.back(), machine.byte_order);
    if (last.events == 0) return std::nullopt;
    until_ns = std::min(until_ns, description.kernel.clock_scale.to_ns(last.last_ticks));
  }
  return until_ns;
}

class KmtSource : public Source {
 public:
  KmtSource(const TraceFile& file, const OpenOptions& options)
      : file_(file), contents_(parse_trace(file.bytes, info_.findings)) {
    info_.path = file.path;
    info_.format = "kmt version 1";
    describe_trace(contents_.description, info_);
    if (options.call_records) info_.calls.records = std::make_shared<CallRecords>();
    if (contents_.description.kernel.formats.empty())
      info_.findings.add({Imperfection::missing_section, "event formats"});
    decoder_ = std::make_unique<RecordDecoder>(
        parse_event_formats(contents_.description.kernel.formats, info_.findings), info_.machine.byte_order, info_);
    info_.losses.complete_until_ns = complete_until_ns(contents_, info_.machine);
    open_streams(options.buffer);
  }

  const TraceInfo& info() const override { return info_; }
  TraceInfo& info() override { return info_; }
  bool read(EventBatch& batch) override { return streams_.read(batch); }
  double progress() const override { return streams_.progress(); }

 private:
  // Reports a CPU that has no stream although the kernel counted events on it.
  void report_missing_cpus(const std::vector<CpuPart>& parts) {
    if (info_.findings.count_of(Imperfection::missing_cpu) > 0)
      return;  // the file was converted, and the findings that it contains already include this
    for (const BufferStatistics& statistics : info_.losses.buffers) {
      const bool there = std::ranges::find(parts, statistics.cpu, &CpuPart::cpu) != parts.end();
      if (const std::uint64_t events = statistics.read + statistics.entries; !there && events > 0)
        info_.findings.add(
            {Imperfection::missing_cpu, fmt::format("the kernel counted {} events there", events), statistics.cpu});
    }
  }

  void open_streams(const std::optional<std::string>& wanted_buffer) {
    std::vector<CpuPart> parts;
    std::vector<std::string> names;
    for (auto& [number, blocks] : contents_.streams) {
      const unsigned cpu = blocks.stream.cpu;
      const std::string& buffer = blocks.stream.buffer;
      names.push_back(buffer);
      info_.machine.cpus = std::max(info_.machine.cpus, cpu + 1);
      if (wanted_buffer && buffer != *wanted_buffer) continue;
      if (info_.recording.buffers.empty() || info_.recording.buffers.back() != buffer)
        info_.recording.buffers.push_back(buffer);
      CpuPart& part = parts.emplace_back(CpuPart{cpu, 0, nullptr});
      for (const Chunk& block : blocks.blocks) part.bytes += block.stored.size();
      part.stream =
          std::make_unique<BlockStream>(std::move(blocks), contents_.cut_off, contents_.description.kernel.clock_scale,
                                        *decoder_, info_, streams_.consumed());
    }
    if (!wanted_buffer) report_missing_cpus(parts);
    if (wanted_buffer && parts.empty()) throw no_such_buffer(*wanted_buffer, names);
    streams_.open(std::move(parts));
  }

  TraceFile file_;
  TraceInfo info_;
  FileContents contents_;
  std::unique_ptr<RecordDecoder> decoder_;
  CpuStreams streams_;
};

}  // namespace

std::unique_ptr<Source> open(const TraceFile& file, const OpenOptions& options) {
  return std::make_unique<KmtSource>(file, options);
}

}  // namespace kmt::kmt_format
