// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/text/reader.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "formats/cpu_streams.hpp"
#include "formats/ftrace/event_format.hpp"
#include "formats/ftrace/record_decoder.hpp"
#include "formats/records_by_cpu.hpp"
#include "formats/task_notes.hpp"
#include "formats/text/trace.hpp"
#include "trace/calls/records.hpp"

namespace kmt::text {

namespace {

constexpr std::size_t kLookAt = 64 << 10;  // number of bytes to examine at the start of a file
constexpr std::string_view kTracer = "# tracer: ";
constexpr std::size_t kBatchEvents = 256;
constexpr std::uint32_t kPageBytes = 4096;

void learn_name(const TextTrace& trace, const Line& line, TaskNameHistory& names) {
  if (trace.is_rename(line)) names.called_since(line.tid, line.time, line.comm);
}

Finding unreadable(const Line& line, std::uint64_t offset) {
  return {Imperfection::unreadable_line, std::string(line.event), line.cpu, offset, line.time};
}
Finding unreadable(const Lines::Unreadable& line, std::uint64_t offset) {
  return {Imperfection::unreadable_line, line.why, {}, offset, {}};
}

// Adds the start of the line to a finding, to show the user what cannot be read. Conversions must not do this, because
// the result may be an anonymised trace.
Finding quoting(Finding finding, std::string_view text) {
  finding.detail += fmt::format("{}\"{}\"", finding.detail.empty() ? "" : ": ", excerpt(trim(text)));
  return finding;
}

// Selects the lines that a stream reads.
struct WantedLines {
  std::optional<std::string> buffer;  // empty: read the lines of all buffers
  std::vector<CpuRun> runs;           // the parts of the text to read; the streams of a trace have different parts
};

// Reads events in the order of the lines.
class LineStream : public CpuStream {
 public:
  LineStream(const TextTrace& trace, WantedLines wanted, RecordDecoder& decoder, TraceInfo& info,
             std::uint64_t& consumed)
      : trace_(trace),
        lines_(trace.lines()),
        wanted_(std::move(wanted)),
        decoder_(decoder),
        info_(info),
        consumed_(consumed) {}

  bool read(EventBatch& batch) override {
    batch.clear();
    while (batch.size() < kBatchEvents) {
      const auto item = next();
      if (!item) break;
      if (const Line* const line = std::get_if<Line>(&*item); line != nullptr && is_wanted(line->buffer))
        add(*line, batch);
      if (const CallLine* const call = std::get_if<CallLine>(&*item); call != nullptr && is_wanted(call->line.buffer))
        add(*call, batch);
      if (const LostLine* const lost = std::get_if<LostLine>(&*item); lost != nullptr && is_wanted(lost->buffer))
        add_lost(*lost);
      if (const auto* const other = std::get_if<Lines::Unreadable>(&*item)) report(unreadable(*other, lines_.offset()));
    }
    return !batch.empty();
  }

 private:
  // Returns the next item of the runs.
  std::optional<Lines::Item> next() {
    while (run_ < wanted_.runs.size()) {
      const CpuRun& run = wanted_.runs[run_];
      if (lines_.consumed() < run.begin) lines_.skip_to(run.begin);
      const std::uint64_t before = lines_.consumed();
      if (before >= run.end && !lines_.has_glued()) {
        ++run_;
        continue;
      }
      auto item = lines_.next(run.end);
      consumed_ += lines_.consumed() - before;
      if (item) return item;
      ++run_;
    }
    return std::nullopt;
  }

  bool is_wanted(std::string_view buffer) const { return !wanted_.buffer || *wanted_.buffer == buffer; }

  void report(Finding finding) {
    const bool wants = info_.findings.wants(finding.kind);
    info_.findings.add(wants ? quoting(std::move(finding), lines_.text()) : std::move(finding));
  }

  void add(const Line& line, EventBatch& batch) {
    learn_name(trace_, line, info_.tasks.names);
    if (!trace_.encode(line, lines_.offset(), record_)) return report(unreadable(line, lines_.offset()));
    check_time(line);
    decoder_.decode(record_, line.time, line.cpu, lines_.offset(), batch);
  }

  void add(const CallLine& call, EventBatch& batch) {
    learn_name(trace_, call.line, info_.tasks.names);
    check_time(call.line);
    trace_.encode(call, record_, [&](std::uint64_t time, Bytes record) {
      last_ns_[call.line.cpu] = time;
      decoder_.decode(record, time, call.line.cpu, lines_.offset(), batch);
    });
  }

  // Ends an open loss of the CPU. Reports if the line's time is earlier than that of the CPU's previous line.
  void check_time(const Line& line) {
    std::uint64_t& last = last_ns_[line.cpu];
    if (const auto open = open_losses_.find(line.cpu); open != open_losses_.end()) {
      info_.losses.intervals[open->second].after_ns = line.time;
      open_losses_.erase(open);
    }
    if (line.time < last)
      info_.findings.add({Imperfection::time_goes_backward, fmt::format("by {}", last - line.time), line.cpu,
                          lines_.offset(), line.time});
    last = line.time;
  }

  void add_lost(const LostLine& lost) {
    const auto [open, is_new] = open_losses_.try_emplace(lost.cpu, info_.losses.intervals.size());
    LostEvents* const same = is_new ? nullptr : &info_.losses.intervals[open->second];
    if (same != nullptr && same->count.has_value() == lost.count.has_value()) {
      if (lost.count) same->count = sum_of_counts(*same->count, *lost.count);
    } else {
      open->second = info_.losses.intervals.size();
      info_.losses.intervals.push_back({lost.cpu, lost.count, last_ns_[lost.cpu], 0, lines_.offset()});
    }
    info_.findings.add({Imperfection::lost_events, lost_events_text(lost.count), lost.cpu, lines_.offset()},
                       lost.count.value_or(1));
  }

  const TextTrace& trace_;
  Lines lines_;
  WantedLines wanted_;
  std::size_t run_ = 0;
  RecordDecoder& decoder_;
  TraceInfo& info_;
  std::uint64_t& consumed_;
  std::map<unsigned, std::uint64_t> last_ns_;
  std::map<unsigned, std::size_t> open_losses_;  // key: CPU; value: index of the loss after the CPU's last event
  std::vector<std::uint8_t> record_;
};

// Throws Error if the text has events of several files, such as those of a host and a guest, which must not be matched
// with each other. trace-cmd report then writes the name of the file before each event.
void refuse_several_files(const TextTrace& trace, const std::string& path) {
  std::vector<std::string> files = trace.buffers();
  std::erase_if(files, [](const std::string& name) { return !name.ends_with(".dat"); });
  if (files.size() < 2) return;
  throw Error(fmt::format("The text has events of {} trace files: {}", files.size(), first_of(files)))
      .hint("Read one of them with --buffer NAME, or keep only its lines with grep")
      .at({path, {}, {}});
}

class TextSource : public Source {
 public:
  TextSource(const TraceFile& file, const OpenOptions& options) : file_(file), trace_(file.bytes) {
    info_.recording.buffers = trace_.buffers();
    if (info_.recording.buffers.empty()) info_.recording.buffers = {""};
    if (options.buffer)
      take_only(*options.buffer);
    else
      refuse_several_files(trace_, file.path);
    TraceDescription description = trace_.description();
    info_.path = file.path;
    if (options.call_records) info_.calls.records = std::make_shared<CallRecords>();
    info_.format = "text of events, assuming pages of 4 KiB";  // the text does not state the page size
    if (!file.damage.empty()) info_.findings.add({Imperfection::truncated_file, file.damage});
    info_.findings.merge(trace_.findings());
    describe_trace(description, info_);
    info_.losses.somewhere = sum_of_counts(info_.losses.somewhere, trace_.missing_entries());
    decoder_ = std::make_unique<RecordDecoder>(parse_event_formats(trace_.description().kernel.formats, info_.findings),
                                               info_.machine.byte_order, info_);
    std::map<unsigned, std::vector<CpuRun>> runs;
    for (const CpuRun& run : trace_.unmerged_runs()) runs[run.cpu].push_back(run);
    if (runs.empty()) runs[0] = {{0, 0, file.bytes.size()}};
    std::vector<CpuPart> parts;
    for (auto& [cpu, of_cpu] : runs) {
      std::uint64_t bytes = 0;
      for (const CpuRun& run : of_cpu) bytes += run.end - run.begin;
      parts.push_back({cpu, bytes,
                       std::make_unique<LineStream>(trace_, WantedLines{options.buffer, std::move(of_cpu)}, *decoder_,
                                                    info_, streams_.consumed())});
    }
    streams_.open(std::move(parts));
  }

  const TraceInfo& info() const override { return info_; }
  TraceInfo& info() override { return info_; }
  bool read(EventBatch& batch) override { return streams_.read(batch); }
  double progress() const override { return streams_.progress(); }

 private:
  void take_only(const std::string& buffer) {
    std::vector<std::string>& names = info_.recording.buffers;
    if (std::ranges::find(names, buffer) == names.end()) throw no_such_buffer(buffer, names);
    names = {buffer};
  }

  TraceFile file_;
  TraceInfo info_;
  TextTrace trace_;
  std::unique_ptr<RecordDecoder> decoder_;
  CpuStreams streams_;
};

Bytes start_of(Bytes file) { return file.first(std::min(file.size(), kLookAt)); }

// Returns the start of the ftrace text that the kernel wrote into its log ("Dumping ftrace buffer"). Empty if there is
// none.
Bytes ftrace_dump_in(Bytes file) {
  constexpr std::size_t kMostOfALog = 64 << 20;
  const Bytes log = file.first(std::min(file.size(), kMostOfALog));
  const std::size_t dump = as_text(log).find("Dumping ftrace ");
  return dump == std::string_view::npos ? Bytes() : start_of(file.subspan(dump));
}

bool has_zeros(Bytes bytes) { return std::ranges::find(bytes, 0) != bytes.end(); }

bool has_event(Bytes bytes) {
  Lines lines(bytes);
  while (const auto item = lines.next())
    if (std::holds_alternative<Line>(*item) || std::holds_alternative<CallLine>(*item)) return true;
  return false;
}

// True if the text has lines without fields, such as "812 1 65416593053928 type: 658", which ftrace prints with the
// options raw and hex.
bool lacks_fields(std::string_view text) {
  constexpr std::string_view kType = "type: ";
  for (std::size_t at = text.find(kType); at != text.npos; at = text.find(kType, at + 1)) {
    const std::size_t begin = text.find_last_of('\n', at) + 1;
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view before = text.substr(begin, at - begin),
                           after = text.substr(at + kType.size(), end - at - kType.size());
    if (before.find_first_not_of("0123456789abcdef ") == before.npos && parse_value(trim(after))) return true;
  }
  return false;
}

TaskNameHistory names_in(const TextTrace& trace) {
  TaskNameHistory names;
  Lines lines = trace.lines();
  while (const auto item = lines.next()) {
    if (const Line* const line = std::get_if<Line>(&*item)) learn_name(trace, *line, names);
    if (const CallLine* const call = std::get_if<CallLine>(&*item)) learn_name(trace, call->line, names);
  }
  return names;
}

}  // namespace

bool is_text(Bytes bytes) {
  const Bytes begin = start_of(bytes);
  if (has_zeros(begin)) return false;
  if (has_event(begin)) return true;
  // A file /sys/kernel/tracing/trace without events has only comment lines.
  if (as_text(begin).starts_with(kTracer))
    return std::ranges::all_of(split(as_text(begin), '\n'), [](std::string_view line) {
      line = trim(line);
      return line.empty() || line.starts_with('#');
    });
  const Bytes dump = ftrace_dump_in(bytes);
  return !has_zeros(dump) && has_event(dump);
}

std::optional<Error> why_no_text(Bytes bytes) {
  const Bytes begin = start_of(bytes);
  const std::string_view text = as_text(begin);
  const bool is_binary = has_zeros(begin);
  if (is_binary && !text.starts_with(kTracer)) return std::nullopt;
  if (is_binary || lacks_fields(text))
    return Error("The text has no fields of events, because it was printed with ftrace's option raw, hex or bin")
        .hint("Write noraw, nohex and nobin to trace_options, and copy the trace again");
  BufferStatisticsLines statistics;
  Lines lines(begin);
  while (const auto item = lines.next()) {
    if (const auto* const other = std::get_if<std::string_view>(&*item)) statistics.add(*other);
    const auto* const line = std::get_if<Lines::Unreadable>(&*item);
    if (line == nullptr) continue;
    return Error("The text seems to have events, but no line of it can be read: " +
                 quoting(unreadable(*line, 0), lines.text()).detail)
        .hint("A line needs the name of its event; with perf script, use -F comm,tid,cpu,time,event,trace");
  }
  if (!statistics.empty())
    return Error("The text has statistics of ring buffers, but no events")
        .hint("Print the events with trace-cmd report without --stat, or copy tracefs's file trace");
  return std::nullopt;
}

std::unique_ptr<Source> open(const TraceFile& file, const OpenOptions& options) {
  return std::make_unique<TextSource>(file, options);
}

void read_records(const TraceFile& file, RecordSink& sink, Findings& findings) {
  const TextTrace trace(file.bytes);
  refuse_several_files(trace, file.path);
  if (!file.damage.empty()) findings.add({Imperfection::truncated_file, file.damage});
  findings.merge(trace.findings());
  TraceDescription description = trace.description();
  if (trace.missing_entries() > 0)
    description.cpu_stats.push_back(fmt::format("dropped events: {}\n", trace.missing_entries()));
  note_task_names(names_in(trace), description.kernel.notes, findings);
  sink.describe(description);
  RecordsByCpu records(sink, kPageBytes);
  std::vector<std::uint8_t> record;
  Lines lines = trace.lines();
  while (const auto item = lines.next()) {
    if (const auto* const lost = std::get_if<LostLine>(&*item)) records.lost(lost->cpu, lost->count);
    if (const auto* const other = std::get_if<Lines::Unreadable>(&*item))
      findings.add(unreadable(*other, lines.offset()));
    if (const CallLine* const call = std::get_if<CallLine>(&*item))
      trace.encode(*call, record, [&](std::uint64_t time, const std::vector<std::uint8_t>& encoded) {
        records.record(call->line.cpu, time, encoded);
      });
    const Line* const line = std::get_if<Line>(&*item);
    if (line == nullptr) continue;
    if (trace.encode(*line, lines.offset(), record))
      records.record(line->cpu, line->time, record);
    else
      findings.add(unreadable(*line, lines.offset()));
  }
  records.finish();
}

}  // namespace kmt::text
