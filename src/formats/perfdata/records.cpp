// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/perfdata/records.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "formats/ftrace/event_format.hpp"
#include "formats/ftrace/format_text.hpp"
#include "formats/perfdata/description.hpp"
#include "formats/perfdata/layout.hpp"
#include "formats/perfdata/ordered_records.hpp"
#include "formats/perfdata/reader.hpp"
#include "formats/perfdata/stacks.hpp"
#include "formats/records_by_cpu.hpp"
#include "formats/task_notes.hpp"

namespace kmt::perfdata {

namespace {

constexpr std::uint16_t kUsualStackId = 4;  // TRACE_STACK of kernel/trace/trace.h

// Returns an unused event ID, or nothing if all are used.
std::optional<std::uint16_t> unused_id(const std::vector<FormatText>& formats) {
  constexpr unsigned kIds = 0x10000;
  std::vector<bool> used(kIds);
  Findings found_again;
  for (const EventFormat& format : parse_event_formats(formats, found_again)) used[format.id] = true;
  for (unsigned id = kUsualStackId; id < kIds; ++id)
    if (!used[id]) return static_cast<std::uint16_t>(id);
  return std::nullopt;
}

// Returns lines "ID TEXT", sorted by ID.
template <typename Texts>
std::string lines_by_id(const Texts& texts) {
  std::string lines;
  for (const auto& [id, text] : std::map(texts.begin(), texts.end()))
    if (const std::string line = fmt::format("{} {}", id, text); line.find('\n') == std::string::npos)
      lines += line + '\n';
  return lines;
}

// A record or a loss that is not due yet.
struct Held {
  std::uint64_t time_ns = 0;
  std::uint16_t cpu = 0;
  bool is_loss = false;
  std::optional<std::uint64_t> lost;  // for a loss
  std::vector<std::uint8_t> record;
  std::vector<std::uint64_t> stack;
  std::int32_t process = 0;
  std::vector<std::uint64_t> user_stack;
};

// Reads the whole file, and returns the code mappings of processes.
UserMemory user_memory_of(Bytes file, const FileContents& contents) {
  TraceInfo info;  // its findings are not used, because the reader reports them
  for (const CodeObject& object : contents.description.kernel.user_memory.objects)
    info.code.user.objects.push_back(object);
  MappedObjects objects(info);
  UserMemory memory;
  RecordParser parser(file, contents, info.findings);
  for (RecordParser::Kind kind{}; (kind = parser.next()) != RecordParser::Kind::end;) {
    if (kind != RecordParser::Kind::task) continue;
    TaskChange& task = parser.task();
    auto change = space_change(task);
    if (!change) continue;
    change->time_ns = task.time_ns;
    if (task.mapping) change->object = objects.number_of(*task.mapping) - UserCode::kFirstObject;
    memory.changes.push_back(*change);
  }
  memory.objects.assign(info.code.user.objects.begin() + UserCode::kFirstObject, info.code.user.objects.end());
  std::ranges::stable_sort(memory.changes, {}, &SpaceChange::time_ns);
  return memory;
}

class Converter {
 public:
  Converter(const TraceFile& file, RecordSink& sink, Findings& findings)
      : sink_(sink),
        findings_(findings),
        contents_(parse_file(file.bytes, read_again_.findings)),
        deferred_(file.bytes, contents_),
        records_(file.bytes, contents_, read_again_) {
    describe(file);
  }

  void convert();

 private:
  void describe(const TraceFile& file);
  void take_sample();
  void take_loss();
  void give(const Held& item);
  void give_stacks(const Held& item);
  void give_stack(const Held& item, std::uint16_t id, std::uint32_t in_front, const std::vector<std::uint64_t>& stack);

  RecordSink& sink_;
  Findings& findings_;
  // Filled when the records are read the second time. It is not used, because describe() has already passed on this
  // information.
  TraceInfo read_again_;
  FileContents contents_;
  DeferredStacks deferred_;
  OrderedRecords<Held> records_;
  std::optional<RecordsByCpu> by_cpu_;
  unsigned long_bytes_ = 8;
  std::optional<std::uint16_t> stack_id_;  // empty if no stacks are written
  std::optional<std::uint16_t> user_stack_id_;
  std::uint64_t omitted_ = 0;
  std::vector<std::uint8_t> stack_record_;
};

// Reads the whole file first, because some facts depend on all of it.
void Converter::describe(const TraceFile& file) {
  TraceDescription& description = contents_.description;
  KernelDescription& kernel = description.kernel;
  if (kernel.header_page.empty()) {
    Error error("Cannot convert: the file does not describe its events");
    if (has_no_tracepoints(contents_))
      error.hint("No tracepoints were recorded, and other formats cannot store other events");
    else if (contents_.is_pipe)
      error.hint("In a pipe, perf writes the descriptions before the events: the start of this file is missing");
    else
      error.hint("perf writes the descriptions at the end of a recording, but this recording was not completed");
    throw error;
  }
  const std::unique_ptr<Source> source = open(file, {});
  for (EventBatch batch; source->read(batch);) {
  }
  const TraceInfo& info = source->info();
  findings_.merge(info.findings);
  long_bytes_ = info.machine.word_bits / 8;
  kernel.cpus = info.machine.cpus;
  kernel.clock = info.clock.name;
  kernel.clock_choices = fmt::format("[{}]", info.clock.name);
  kernel.saved_cmdlines = lines_by_id(info.tasks.comms);
  kernel.thread_groups = lines_by_id(info.tasks.thread_groups);
  note_task_names(info.tasks.names, kernel.notes, findings_);
  note_task_lives(info.tasks.lives, kernel.notes, findings_);
  // If perf completed the recording, the file's loss records count all losses. Otherwise the number of losses is
  // unknown, so no statistics are written.
  const std::vector<std::uint64_t> lost = lost_events_per_cpu(info.losses, info.machine.cpus);
  for (unsigned cpu = 0; cpu < lost.size() && info.findings.count_of(Imperfection::truncated_file) == 0; ++cpu)
    description.cpu_stats.push_back(cpu_stats_of(kernel, cpu, fmt::format("overrun: {}\n", lost[cpu])));
  const auto describe_stacks = [&](auto&& describe_as) {
    const std::optional<std::uint16_t> id = unused_id(kernel.formats);
    if (id)
      kernel.formats.push_back(describe_as(*id, long_bytes_));
    else
      findings_.add({Imperfection::left_out, "stacks: no event id is left for their records"});
    return id;
  };
  if (info.tables.stacks.kernel_stacks() > 0) stack_id_ = describe_stacks(describe_kernel_stack);
  UserMemory memory = info.tables.stacks.user_stacks() > 0 ? user_memory_of(file.bytes, contents_) : UserMemory{};
  kernel.user_memory = std::move(memory);
  if (info.tables.stacks.user_stacks() > 0) user_stack_id_ = describe_stacks(describe_user_stack);
  sink_.describe(description);
  by_cpu_.emplace(sink_, kernel.page_size);
}

void Converter::convert() {
  for (bool ended = false; !ended;) {
    switch (records_.next()) {
      case RecordParser::Kind::sample: take_sample(); break;
      case RecordParser::Kind::loss: take_loss(); break;
      case RecordParser::Kind::task: break;
      case RecordParser::Kind::round_end: break;
      case RecordParser::Kind::end: ended = true; break;
    }
    while (const Held* const item = records_.next_due()) give(*item);
  }
  by_cpu_->finish();
  if (omitted_ > 0)
    findings_.add(
        {Imperfection::unwritten_event, fmt::format("{} of them: not tracepoints, or without fields", omitted_)},
        omitted_);
}

void Converter::take_sample() {
  const Sample& sample = records_.parser().sample();
  const Attribute& attribute = contents_.attributes.all()[records_.parser().attribute()];
  if (!sample.raw || attribute.type != kTypeTracepoint) {
    ++omitted_;
    return;
  }
  Held& item = records_.items().emplace_back();
  item.time_ns = sample.time_ns;
  item.cpu = static_cast<std::uint16_t>(*sample.cpu);
  item.record.assign(sample.raw->begin(), sample.raw->end());
  kernel_stack(sample.chain, contents_.order(), item.stack);
  // describe() has already reported stacks whose record is missing.
  std::ignore = user_stack(sample, deferred_, contents_.order(), item.user_stack);
  item.process = sample.process;
  records_.hold(item.time_ns, item.cpu);
}

// Ignores a loss without a time, because it is the total at the end, which the statistics already have.
void Converter::take_loss() {
  const Loss& loss = records_.parser().loss();
  if (loss.time_ns == 0) return;
  Held& item = records_.items().emplace_back();
  item.time_ns = loss.time_ns;
  item.cpu = loss.cpu;
  item.is_loss = true;
  item.lost = loss.count;
  records_.hold(item.time_ns, item.cpu);
}

void Converter::give(const Held& item) {
  if (item.is_loss) return by_cpu_->lost(item.cpu, item.lost);
  by_cpu_->record(item.cpu, item.time_ns, item.record);
  give_stacks(item);
}

void Converter::give_stacks(const Held& item) {
  if (stack_id_ && !item.stack.empty())
    give_stack(item, *stack_id_, static_cast<std::uint32_t>(item.stack.size()), item.stack);
  if (user_stack_id_ && !item.user_stack.empty())
    give_stack(item, *user_stack_id_, static_cast<std::uint32_t>(item.process), item.user_stack);
}

void Converter::give_stack(const Held& item, std::uint16_t id, std::uint32_t in_front,
                           const std::vector<std::uint64_t>& stack) {
  if (item.record.size() < kCommonBytes) return;
  const ByteOrder order = contents_.order();
  const std::size_t callers = kCommonBytes + long_bytes_;
  stack_record_.assign(callers + stack.size() * long_bytes_, 0);
  std::copy_n(item.record.begin(), kCommonBytes, stack_record_.begin());
  store(stack_record_.data(), id, order);
  store(stack_record_.data() + kCommonBytes, in_front, order);
  std::uint8_t* at = stack_record_.data() + callers;
  for (const std::uint64_t address : stack) {
    if (long_bytes_ == 4)
      store(at, static_cast<std::uint32_t>(address), order);
    else
      store(at, address, order);
    at += long_bytes_;
  }
  by_cpu_->record(item.cpu, item.time_ns, stack_record_);
}

}  // namespace

void read_records(const TraceFile& file, RecordSink& sink, Findings& findings) {
  Converter(file, sink, findings).convert();
}

}  // namespace kmt::perfdata
