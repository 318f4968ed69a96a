// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/ctf/reader.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "formats/cpu_streams.hpp"
#include "formats/ctf/trace.hpp"
#include "formats/ftrace/record_decoder.hpp"
#include "formats/ftrace/stack_matcher.hpp"

namespace kmt::ctf {

namespace {

constexpr std::size_t kBatchEvents = 256;

// Learns names and processes of tasks from contexts and fields that LTTng adds, and that the kernel's own events lack.
class TaskLearner {
 public:
  explicit TaskLearner(TraceInfo& info) : info_(info) {}

  void learn(const EventRecord& record, std::uint64_t time_ns) {
    if (record.task) info_.tasks.thread_groups[record.task->tid] = record.task->process;
    if (record.other) info_.tasks.thread_groups[record.other->tid] = record.other->process;
    if (record.task_name.empty() || record.tid <= 0) return;
    std::string& last = info_.tasks.comms[record.tid];
    if (last == record.task_name) return;
    last = record.task_name;
    info_.tasks.names.called_since(record.tid, time_ns, last);
  }

 private:
  TraceInfo& info_;
};

class CtfStream : public StackedStream {
 public:
  CtfStream(unsigned cpu, CpuEvents& events, RecordDecoder& decoder, TraceInfo& info)
      : StackedStream(info, decoder.user_stacks()),
        cpu_(cpu),
        events_(events),
        decoder_(decoder),
        info_(info),
        tasks_(info) {}

 private:
  bool append(EventBatch& batch) override {
    for (std::size_t i = 0; i < kBatchEvents; ++i) {
      const Step* const step = events_.next();
      if (step == nullptr) return i != 0;
      switch (step->kind) {
        case Step::Kind::event: append_event(*step, batch); break;
        case Step::Kind::loss: report_loss(*step, batch); break;
        case Step::Kind::damage:
          info_.findings.add({Imperfection::damaged_stream, step->detail, cpu_, {}, last_ns_});
          break;
      }
    }
    return true;
  }

  void append_event(const Step& step, EventBatch& batch) {
    if (step.time_ns < last_ns_)
      info_.findings.add(
          {Imperfection::time_goes_backward, fmt::format("by {} ns", last_ns_ - step.time_ns), cpu_, {}, step.time_ns});
    last_ns_ = step.time_ns;
    const EventRecord* const record = events_.record();
    if (record == nullptr) return report(Imperfection::unknown_event, step, cpu_, info_.findings);
    if (record->is_cut_off) report(Imperfection::cut_off_field, step, cpu_, info_.findings);
    tasks_.learn(*record, step.time_ns);
    decoder_.decode(record->record, step.time_ns, cpu_, 0, batch);
    for (const Bytes stack : {record->stack, record->user_stack})
      if (!stack.empty()) decoder_.decode(stack, step.time_ns, cpu_, 0, batch);
  }

  void report_loss(const Step& step, const EventBatch& batch) {
    lost_at(batch.size());
    info_.losses.intervals.push_back({cpu_, step.lost, step.since_ns, std::max(step.time_ns, last_ns_), {}});
    info_.findings.add({Imperfection::lost_events, step.detail, cpu_, {}, step.time_ns}, step.lost.value_or(1));
  }

  unsigned cpu_;
  CpuEvents& events_;
  RecordDecoder& decoder_;
  TraceInfo& info_;
  TaskLearner tasks_;
  std::uint64_t last_ns_ = 0;
};

class CtfSource : public Source {
 public:
  CtfSource(const TraceFile& file, const OpenOptions& options) : trace_(file.path, info_.findings) {
    info_.path = file.path;
    info_.format = trace_.format;
    describe_trace(trace_.description, info_);
    if (options.buffer && !options.buffer->empty()) throw no_such_buffer(*options.buffer, {""});
    info_.recording.buffers = {""};
    decoder_ = std::make_unique<RecordDecoder>(trace_.records->formats(), info_.machine.byte_order, info_);
    std::vector<CpuPart> parts;
    for (auto& [cpu, events] : trace_.cpus)
      parts.push_back({cpu, 0, std::make_unique<CtfStream>(cpu, events, *decoder_, info_)});
    streams_.open(std::move(parts));
  }

  const TraceInfo& info() const override { return info_; }
  TraceInfo& info() override { return info_; }
  bool read(EventBatch& batch) override {
    if (!streams_.read(batch)) return false;
    time_ns_ = static_cast<std::int64_t>(batch.back().time_ns);
    return true;
  }
  // Returns the progress, estimated from event times, because libbabeltrace2 does not report how many bytes it has
  // read. Reads the time range only at the first call, because it is not needed if no progress is shown.
  double progress() const override {
    if (!range_) range_ = trace_.time_range().value_or(TimeRange{});
    const auto [begin, end] = *range_;
    return begin < end ? std::clamp(static_cast<double>(time_ns_ - begin) / static_cast<double>(end - begin), 0.0, 1.0)
                       : 0.0;
  }

 private:
  TraceInfo info_;
  Trace trace_;
  std::unique_ptr<RecordDecoder> decoder_;
  CpuStreams streams_;
  std::int64_t time_ns_ = 0;
  mutable std::optional<TimeRange> range_;
};

}  // namespace

std::unique_ptr<Source> open(const TraceFile& file, const OpenOptions& options) {
  return std::make_unique<CtfSource>(file, options);
}

}  // namespace kmt::ctf
