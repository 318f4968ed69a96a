// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/records_of_events.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <queue>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/endian.hpp"
#include "formats/ftrace/format_text.hpp"
#include "formats/records_by_cpu.hpp"

namespace kmt {

namespace {

constexpr std::uint32_t kPageBytes = 4096;  // page size of the ring buffer in the description that this file makes

struct Field {
  TextField text;
  std::uint64_t (*value)(const Event& event, const TraceInfo& info);
};

// Addresses and sizes always have 64 bits, because the kernel's word size may be unknown.
std::vector<Field> fields_of(bool allocates) {
  std::vector<Field> fields = {
      {{"call_site"},
       [](const Event& event, const TraceInfo& info) { return info.tables.call_sites[event.call_site.value]; }},
      {{"ptr"}, [](const Event& event, const TraceInfo&) { return event.address; }}};
  if (!allocates) return fields;
  fields.push_back({{"bytes_req"}, [](const Event& event, const TraceInfo&) { return event.bytes_requested; }});
  fields.push_back({{"bytes_alloc"}, [](const Event& event, const TraceInfo&) { return event.bytes_allocated; }});
  fields.push_back(
      {{"gfp_flags", 4}, [](const Event& event, const TraceInfo&) { return std::uint64_t{event.gfp_flags}; }});
  fields.push_back(
      {{"node", 4, true}, [](const Event& event, const TraceInfo&) { return static_cast<std::uint64_t>(event.node); }});
  return fields;
}

std::vector<TextField> texts_of(const std::vector<Field>& fields) {
  std::vector<TextField> texts;
  texts.reserve(fields.size());
  for (const Field& field : fields) texts.push_back(field.text);
  return texts;
}

// The ID of an event is its position in this list, starting at 1.
constexpr std::pair<EventKind, const char*> kEvents[] = {{EventKind::kmalloc, "kmalloc"},
                                                         {EventKind::kfree, "kfree"},
                                                         {EventKind::cache_alloc, "kmem_cache_alloc"},
                                                         {EventKind::cache_free, "kmem_cache_free"}};

FormatText format_of(unsigned id) {
  const auto& [kind, name] = kEvents[id - 1];
  return {"kmem", format_text(name, id, texts_of(fields_of(is_slab_alloc(kind))), {})};
}

TraceDescription description_of(const TraceInfo& info) {
  TraceDescription description;
  KernelDescription& kernel = description.kernel;
  kernel.system_name = "Linux";
  kernel.release = info.machine.kernel;
  kernel.machine = info.machine.arch;
  kernel.byte_order = info.machine.byte_order;
  kernel.long_bytes = info.machine.word_bits / 8;
  kernel.page_size = info.machine.page_size == 0 ? kPageBytes : static_cast<std::uint32_t>(info.machine.page_size);
  kernel.sub_buffer_bytes = kPageBytes;
  kernel.cpus = info.machine.cpus;
  kernel.cpu_nodes.assign(info.machine.cpu_nodes.begin(), info.machine.cpu_nodes.end());
  kernel.header_page = header_page_text(kernel.long_bytes, kPageBytes);
  kernel.header_event = header_event_text();
  for (unsigned id = 1; id <= std::size(kEvents); ++id) kernel.formats.push_back(format_of(id));
  kernel.kallsyms = info.code.kallsyms;
  for (const auto& [tid, name] : info.tasks.comms) kernel.saved_cmdlines += fmt::format("{} {}\n", tid, name);
  kernel.clock = info.clock.name;
  kernel.clock_choices = fmt::format("[{}]", info.clock.name);
  kernel.notes = info.recording.notes;
  if (!info.machine.kernel.empty()) description.uname = uname_of(kernel);
  // Without an entry for dropped events, readers report that their number is unknown.
  if (info.losses.somewhere > 0 || info.findings.count_of(Imperfection::unknown_loss) == 0)
    description.cpu_stats.push_back(fmt::format("dropped events: {}\n", info.losses.somewhere));
  return description;
}

// The fields of an allocation or a free. `offsets` has the offset of each field in the record, and then the record's
// size.
struct RecordFields {
  explicit RecordFields(bool allocates) : fields(fields_of(allocates)), offsets(offsets_of(texts_of(fields))) {}

  std::vector<Field> fields;
  std::vector<unsigned> offsets;
};

class Writer {
 public:
  Writer(const TraceInfo& info, const std::vector<LostEvents>& lost, RecordsByCpu& records)
      : info_(info), records_(records) {
    for (const LostEvents& one : lost) lost_[one.cpu].push(one);
  }

  // Returns the number of events that could not be written.
  std::uint64_t write(const EventBatch& batch) {
    std::uint64_t omitted = 0;
    for (const Event& event : batch) {
      if (const auto lost = lost_.find(event.cpu); lost != lost_.end()) write_lost_before(event.time_ns, lost->second);
      if (encode(event))
        records_.record(event.cpu, event.time_ns, record_);
      else
        ++omitted;
    }
    return omitted;
  }

  void finish() {
    for (auto& [cpu, lost] : lost_) write_lost_before(~std::uint64_t{0}, lost);
    records_.finish();
  }

 private:
  void write_lost_before(std::uint64_t time_ns, std::queue<LostEvents>& lost) {
    for (; !lost.empty() && lost.front().before_ns < time_ns; lost.pop())
      records_.lost(lost.front().cpu, lost.front().count);
  }

  bool encode(const Event& event) {
    const auto* const known = std::ranges::find(kEvents, event.kind, [](const auto& one) { return one.first; });
    if (known == std::end(kEvents)) return false;
    const auto& [fields, offsets] = is_slab_alloc(event.kind) ? allocation_ : free_;
    record_.assign(offsets.back(), 0);
    put(0, 2, static_cast<std::uint64_t>(known - std::begin(kEvents)) + 1);
    put(2, 1, event.context);
    put(4, 4, static_cast<std::uint32_t>(event.tid));
    for (std::size_t i = 0; i < fields.size(); ++i)
      put(offsets[i], fields[i].text.bytes, fields[i].value(event, info_));
    return true;
  }

  void put(unsigned offset, unsigned bytes, std::uint64_t value) {
    std::uint8_t* const at = record_.data() + offset;
    if (bytes == 8) store(at, value, info_.machine.byte_order);
    if (bytes == 4) store(at, static_cast<std::uint32_t>(value), info_.machine.byte_order);
    if (bytes == 2) store(at, static_cast<std::uint16_t>(value), info_.machine.byte_order);
    if (bytes == 1) *at = static_cast<std::uint8_t>(value);
  }

  const TraceInfo& info_;
  RecordsByCpu& records_;
  std::map<unsigned, std::queue<LostEvents>> lost_;  // losses not yet written, by CPU
  RecordFields allocation_{true};
  RecordFields free_{false};
  std::vector<std::uint8_t> record_;
};

}  // namespace

void records_of_events(const std::function<std::unique_ptr<Source>()>& open, RecordSink& sink, Findings& findings) {
  EventBatch batch;
  const std::unique_ptr<Source> whole = open();
  while (whole->read(batch)) {
  }
  const TraceInfo& info = whole->info();
  findings.merge(info.findings);
  sink.describe(description_of(info));
  const std::unique_ptr<Source> source = open();
  RecordsByCpu records(sink, kPageBytes);
  Writer writer(source->info(), info.losses.intervals, records);
  std::uint64_t omitted = 0;
  while (source->read(batch)) omitted += writer.write(batch);
  writer.finish();
  if (omitted > 0) findings.add({Imperfection::unwritten_event, fmt::format("{} of them", omitted)}, omitted);
}

}  // namespace kmt
