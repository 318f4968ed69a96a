// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/tracedat/reader.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/arithmetic/size.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "formats/cpu_streams.hpp"
#include "formats/ftrace/event_format.hpp"
#include "formats/ftrace/record_decoder.hpp"
#include "formats/ftrace/stack_matcher.hpp"
#include "formats/tracedat/file.hpp"
#include "formats/tracedat/pages.hpp"
#include "trace/calls/records.hpp"
#include "trace/ring_page.hpp"

namespace kmt::tracedat {

namespace {

class CpuDataStream : public StackedStream {
 public:
  CpuDataStream(const TraceFile& file, const CpuData& data, Pages pages, PageLayout layout, ClockScale clock,
                RecordDecoder& decoder, TraceInfo& info, std::uint64_t& consumed)
      : StackedStream(info, decoder.user_stacks()),
        data_(file.mapping.get(), file.bytes.subspan(to_size(data.offset), to_size(data.size))),
        pages_(std::move(pages)),
        layout_(layout),
        clock_(clock),
        cpu_(data.cpu),
        decoder_(decoder),
        info_(info),
        consumed_(consumed) {}

 private:
  bool append(EventBatch& batch) override {
    const std::uint64_t consumed_before = pages_.consumed();
    data_.read_until(consumed_before);
    Bytes page;
    try {
      if (!pages_.next(page)) return false;
    } catch (const Error& error) {
      info_.findings.add({Imperfection::damaged_page, error.what(), cpu_, error.place().offset});
      return false;
    }
    consumed_ += pages_.consumed() - consumed_before;

    const std::uint64_t last_before = last_ns_;
    const std::size_t first = batch.size();
    const PageHeader header = read_page_header(page, layout_);
    if (header.end.missed_events) decoder_.forget_values(cpu_);
    const PageEnd end = walk_page(page, layout_, [&](std::uint64_t ticks, Bytes record, std::uint64_t offset) {
      const std::uint64_t time_ns = clock_.to_ns(ticks);
      if (time_ns < last_ns_) report_backwards(time_ns, offset);
      last_ns_ = time_ns;
      decoder_.decode(record, time_ns, cpu_, pages_.offset() + offset, batch);
    });
    if (end.missed_events) {
      lost_at(first);
      const std::uint64_t after = clock_.to_ns(header.time);
      info_.losses.intervals.push_back({cpu_, end.missed_count, last_before, after, pages_.offset()});
      info_.findings.add({Imperfection::lost_events, lost_events_text(end.missed_count), cpu_, pages_.offset(), after},
                         end.missed_count.value_or(1));
    }
    if (end.damage != nullptr) {
      info_.findings.add({Imperfection::damaged_page, end.damage, cpu_, pages_.offset() + end.damage_offset, last_ns_});
      decoder_.forget_values(cpu_);
    }
    return true;
  }

  void report_backwards(std::uint64_t time_ns, std::uint64_t offset) {
    std::string detail;
    if (info_.findings.wants(Imperfection::time_goes_backward)) detail = fmt::format("by {} ns", last_ns_ - time_ns);
    info_.findings.add({Imperfection::time_goes_backward, std::move(detail), cpu_, pages_.offset() + offset, time_ns});
  }

  ReadOnce data_;
  Pages pages_;
  PageLayout layout_;
  ClockScale clock_;
  unsigned cpu_;
  RecordDecoder& decoder_;
  TraceInfo& info_;
  std::uint64_t& consumed_;
  std::uint64_t last_ns_ = 0;
};

class TraceDatSource : public Source {
 public:
  TraceDatSource(const TraceFile& file, const OpenOptions& options)
      : file_(file), contents_(parse_file(file.bytes, info_.findings)), unpacked_(file.bytes.size()) {
    describe();
    if (options.call_records) info_.calls.records = std::make_shared<CallRecords>();
    decoder_ = std::make_unique<RecordDecoder>(
        parse_event_formats(contents_.description.kernel.formats, info_.findings), contents_.order(), info_);
    if (contents_.description.kernel.formats.empty())
      info_.findings.add({Imperfection::missing_section, "event formats"});
    open_streams(options.buffer);
  }

  const TraceInfo& info() const override { return info_; }
  TraceInfo& info() override { return info_; }
  bool read(EventBatch& batch) override { return streams_.read(batch); }
  double progress() const override { return streams_.progress(); }

 private:
  void describe() {
    info_.path = file_.path;
    info_.format = fmt::format("trace.dat version {}", contents_.version);
    describe_trace(contents_.description, info_);
    for (const BufferData& buffer : contents_.buffers) {
      for (const CpuData& data : buffer.cpus) info_.machine.cpus = std::max(info_.machine.cpus, data.cpu + 1);
      if (info_.clock.name.empty()) info_.clock.name = buffer.clock;
    }
  }

  void open_streams(const std::optional<std::string>& wanted_buffer) {
    std::vector<CpuPart> parts;
    std::vector<std::string> names;
    Findings missing;
    MissingCpus missing_cpus(contents_, info_);
    for (const BufferData& buffer : contents_.buffers) {
      names.push_back(buffer.name);
      if (wanted_buffer && buffer.name != *wanted_buffer) continue;
      if (!is_possible_page_size(buffer.page_size)) {
        info_.findings.add(
            {Imperfection::damaged_section,
             fmt::format("buffer \"{}\": impossible page size {}", printable(buffer.name), buffer.page_size),
             {},
             {},
             {}});
        continue;
      }
      const PageLayout layout{contents_.order(), info_.machine.word_bits / 8, buffer.page_size};
      for (const CpuData& data : buffer.cpus)
        parts.push_back({data.cpu, data.size,
                         std::make_unique<CpuDataStream>(
                             file_, data, Pages(file_.bytes, contents_, buffer, data, unpacked_), layout,
                             contents_.description.kernel.clock_scale, *decoder_, info_, streams_.consumed())});
      if (!buffer.cpus.empty()) info_.recording.buffers.push_back(buffer.name);
      missing_cpus.report(buffer, missing);
    }
    info_.findings.merge(missing);
    if (wanted_buffer && parts.empty()) throw no_such_buffer(*wanted_buffer, names);
    if (contents_.buffers.empty()) info_.findings.add({Imperfection::missing_section, "ring-buffer data"});
    streams_.open(std::move(parts));
  }

  TraceFile file_;
  TraceInfo info_;
  FileContents contents_;
  UnpackedMemory unpacked_;
  std::unique_ptr<RecordDecoder> decoder_;
  CpuStreams streams_;
};

}  // namespace

std::unique_ptr<Source> open(const TraceFile& file, const OpenOptions& options) {
  return std::make_unique<TraceDatSource>(file, options);
}

}  // namespace kmt::tracedat
