// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/perfdata/reader.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/flat_map.hpp"
#include "base/text.hpp"
#include "formats/cpu_streams.hpp"
#include "formats/ftrace/event_format.hpp"
#include "formats/ftrace/record_decoder.hpp"
#include "formats/perfdata/description.hpp"
#include "formats/perfdata/file.hpp"
#include "formats/perfdata/layout.hpp"
#include "formats/perfdata/ordered_records.hpp"
#include "formats/perfdata/stacks.hpp"

namespace kmt::perfdata {

namespace {

// An event and its user stack as addresses. The mappings that the stack needs are known only when the event is due.
struct HeldEvent {
  Event event;
  StackId user;
};

class PerfDataSource : public Source {
 public:
  PerfDataSource(const TraceFile& file, const OpenOptions& options)
      : file_(file),
        bytes_(file_.mapping.get(), file_.bytes),
        contents_(parse_file(file.bytes, info_.findings)),
        deferred_(file.bytes, contents_) {
    if (options.buffer && !options.buffer->empty()) throw no_such_buffer(*options.buffer, {""});
    info_.path = file.path;
    describe(contents_, info_);
    decoder_ = std::make_unique<RecordDecoder>(
        parse_event_formats(contents_.description.kernel.formats, info_.findings), contents_.order(), info_);
    stack_ids_ = std::make_unique<StackIds>(info_.tables.stacks);
    records_ = std::make_unique<OrderedRecords<HeldEvent>>(file.bytes, contents_, info_);
    untraced_types_.resize(contents_.attributes.all().size());
  }

  const TraceInfo& info() const override { return info_; }
  TraceInfo& info() override { return info_; }
  bool read(EventBatch& batch) override;
  double progress() const override;

 private:
  void take_sample();
  void take_stacks(const Sample& sample, const Attribute& attribute, HeldEvent& held);
  void place(const HeldEvent& held, Event& event);
  EventTypeId untraced_type(std::uint32_t attribute);
  void take_loss();

  TraceFile file_;
  ReadOnce bytes_;
  TraceInfo info_;
  FileContents contents_;
  DeferredStacks deferred_;
  std::unique_ptr<RecordDecoder> decoder_;
  std::unique_ptr<StackIds> stack_ids_;
  std::unique_ptr<OrderedRecords<HeldEvent>> records_;
  EventBatch decoded_;  // the events of the current sample
  EventBatch timeless_;
  bool ended_ = false;
  std::vector<std::uint64_t> last_of_cpu_ns_;  // time of the last event read, by CPU
  // Key: CPU; value: index of its total losses in TraceInfo::losses.buffers.
  FlatMap<std::size_t> sums_;
  std::vector<std::uint64_t> stack_;                        // stack of the last sample
  std::vector<std::optional<EventTypeId>> untraced_types_;  // indexed by attribute
};

bool PerfDataSource::read(EventBatch& batch) {
  constexpr std::size_t kBatchEvents = 1024;
  batch.clear();
  for (;;) {
    batch.swap(timeless_);
    while (batch.size() < kBatchEvents) {
      const HeldEvent* const held = records_->next_due();
      if (held == nullptr) break;
      batch.push_back(held->event);
      if (held->user != StackId{}) place(*held, batch.back());
    }
    if (!batch.empty()) return true;
    if (ended_) return false;
    switch (records_->next()) {
      case RecordParser::Kind::sample: take_sample(); break;
      case RecordParser::Kind::loss: take_loss(); break;
      case RecordParser::Kind::task: break;
      case RecordParser::Kind::round_end: bytes_.read_until(records_->parser().position()); break;
      case RecordParser::Kind::end: ended_ = true; break;
    }
  }
}

void PerfDataSource::take_sample() {
  const RecordParser& parser = records_->parser();
  const Sample& sample = parser.sample();
  const auto cpu = static_cast<std::uint16_t>(*sample.cpu);
  decoded_.clear();
  const Attribute& attribute = contents_.attributes.all()[parser.attribute()];
  if (sample.raw && attribute.type == kTypeTracepoint) {
    decoder_->decode(*sample.raw, sample.time_ns, cpu, parser.offset(), decoded_);
  } else {
    Event& event = decoded_.emplace_back();
    event.time_ns = sample.time_ns;
    event.cpu = cpu;
    event.node = kNoNode;
    event.type = untraced_type(parser.attribute());
  }
  if (decoded_.empty()) return;
  HeldEvent held{decoded_.front(), {}};
  take_stacks(sample, attribute, held);
  if (info_.machine.cpus <= cpu) info_.machine.cpus = cpu + 1u;
  if (sample.time_ns == 0) {  // an event without a time cannot be sorted, so it is passed on immediately
    place(held, held.event);
    timeless_.push_back(held.event);
    return;
  }
  records_->items().push_back(held);
  if (last_of_cpu_ns_.size() <= cpu) last_of_cpu_ns_.resize(cpu + 1u);
  last_of_cpu_ns_[cpu] = sample.time_ns;
  records_->hold(sample.time_ns, cpu);
}

// Finds the stacks of a sample. If the sample has no call chain, the stack is only the instruction pointer. Events of
// an interrupt get no user stack, because the interrupt does not act for the program that it interrupts.
void PerfDataSource::take_stacks(const Sample& sample, const Attribute& attribute, HeldEvent& held) {
  UserStacks& users = decoder_->user_stacks();
  if (sample.chain.empty()) {
    if (sample.mode == kCpuModeKernel && sample.ip != 0) held.event.stack = users.place_of_kernel(sample.ip);
    if (sample.user_ip == 0) {
      if (sample.mode == kCpuModeUser) held.user = users.keep(sample.process, {&sample.ip, 1});
      return;
    }
  } else {
    kernel_stack(sample.chain, contents_.order(), stack_);
    held.event.stack = stack_ids_->id_of(stack_);
  }
  if (interrupt_level(held.event) > 0) return;
  if (!user_stack(sample, deferred_, contents_.order(), stack_))
    info_.findings.add({Imperfection::missing_section, "user stacks that the kernel recorded later", *sample.cpu,
                        records_->parser().offset(), sample.time_ns});
  held.user = users.keep(sample.process, stack_);
  if (sample.user_ip != 0 && (attribute.sample_type & SampleBits::kUserMemory) != 0)
    info_.findings.add({Imperfection::not_unwound, {}, *sample.cpu, records_->parser().offset(), sample.time_ns});
}

void PerfDataSource::place(const HeldEvent& held, Event& event) {
  event.stack = decoder_->user_stacks().place(event.stack, held.user, event.time_ns);
}

// Returns the type for events that are no tracepoints, or whose fields are unknown. Reports only count such events.
EventTypeId PerfDataSource::untraced_type(std::uint32_t index) {
  std::optional<EventTypeId>& type = untraced_types_[index];
  if (type) return *type;
  const Attribute& attribute = contents_.attributes.all()[index];
  if (attribute.type == kTypeTracepoint)
    info_.findings.add(
        {Imperfection::missing_section, fmt::format("fields of {}", printable(attribute.name)), {}, {}, {}});
  type = EventTypeId{static_cast<std::uint16_t>(info_.tables.event_types.size())};
  info_.tables.event_types.push_back({"perf", name_of(attribute)});
  return *type;
}

void PerfDataSource::take_loss() {
  const Loss& loss = records_->parser().loss();
  if (info_.machine.cpus <= loss.cpu) info_.machine.cpus = loss.cpu + 1u;
  const std::string what = lost_events_text(loss.count);
  if (loss.time_ns == 0) {
    // perf wrote this total at the end of the recording. It includes the losses that have a time. Therefore
    // lost_events_per_cpu() in trace/info/losses.hpp uses the larger of the two numbers.
    const auto [index, is_first] = sums_.insert(loss.cpu);
    if (is_first) {
      *index = info_.losses.buffers.size();
      info_.losses.buffers.push_back({loss.cpu});
    }
    info_.losses.buffers[*index].overrun += loss.count.value_or(1);
    info_.findings.add({Imperfection::lost_events, what + " in total for one event", loss.cpu, loss.offset}, 0);
    return;
  }
  const std::uint64_t before = loss.cpu < last_of_cpu_ns_.size() ? last_of_cpu_ns_[loss.cpu] : 0;
  info_.losses.intervals.push_back({loss.cpu, loss.count, before, loss.time_ns, loss.offset});
  info_.findings.add({Imperfection::lost_events, what, loss.cpu, loss.offset, loss.time_ns}, loss.count.value_or(1));
}

double PerfDataSource::progress() const {
  const std::uint64_t bytes = contents_.data_end - contents_.data_begin;
  const std::uint64_t read = records_->parser().position() - contents_.data_begin;
  return bytes == 0 ? 1.0 : static_cast<double>(read) / static_cast<double>(bytes);
}

}  // namespace

std::unique_ptr<Source> open(const TraceFile& file, const OpenOptions& options) {
  return std::make_unique<PerfDataSource>(file, options);
}

}  // namespace kmt::perfdata
