// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <unordered_map>

#include <fcntl.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/folder.hpp"
#include "base/new_folder.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "formats/ctf/folders.hpp"
#include "formats/ctf/metadata.hpp"
#include "formats/ctf/records.hpp"
#include "formats/kmt/records.hpp"

namespace kmt::ctf {

namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kMagic = 0xC1FC1FC1;
constexpr std::size_t kPacketBytes = 256u << 10;  // a packet ends with the event that reaches this size

// Writes the packets of one CPU's file. The file is open only during a write, because there may be many CPUs.
class PacketWriter {
 public:
  PacketWriter(const std::string& path, unsigned cpu, const Uuid& uuid, ByteOrder order)
      : path_(path), cpu_(cpu), uuid_(uuid), order_(order) {
    open_file(path_, O_WRONLY | O_CREAT | O_EXCL);  // create the file, even if the CPU has no events
  }

  void begin_event(std::uint64_t time_ns) {
    if (lost_pending_) write_loss(time_ns);
    if (bytes_.empty()) begin_packet(time_ns);
    last_ns_ = time_ns;
  }
  void end_event() {
    if (bytes_.size() >= kPacketBytes) end_packet();
  }
  template <typename T>
  void put(T value) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof(T));
    store(bytes_.data() + at, value, order_);
  }
  void put_bytes(Bytes bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  std::uint64_t last_ns() const { return last_ns_; }
  unsigned cpu() const { return cpu_; }
  std::uint64_t written() const { return written_; }  // number of bytes

  void lost(std::optional<std::uint64_t> count) {
    lost_pending_ = true;
    lost_events_ = sum_of_counts(lost_events_, count.value_or(0));
    if (!count) ++lost_packets_;  // a loss of unknown size is written as a lost packet
  }
  // Ends the packet. More events may follow. A pending loss is written before the next event.
  void pause() { end_packet(); }
  void finish() {
    if (lost_pending_) write_loss(last_ns_);
    end_packet();
  }

 private:
  // Writes an empty packet for a loss. The packet begins at the time of the last event before the loss, and ends at the
  // time of the first event after it.
  void write_loss(std::uint64_t until_ns) {
    // Begin with a packet without a loss, because readers report no loss before the first packet.
    if (bytes_.empty() && sequence_ == 0) {
      begin_packet(until_ns);
      last_ns_ = until_ns;
    }
    end_packet();
    discarded_ = sum_of_counts(discarded_, std::exchange(lost_events_, 0));
    sequence_ += std::exchange(lost_packets_, 0);
    lost_pending_ = false;
    begin_packet(last_ns_);
    last_ns_ = until_ns;
    end_packet();
  }

  void begin_packet(std::uint64_t time_ns) {
    begin_ns_ = time_ns;
    bytes_.assign(PacketLayout::kBytes, 0);
  }

  void end_packet() {
    if (bytes_.empty()) return;
    const auto at = [this](std::size_t place, auto value) { store(bytes_.data() + place, value, order_); };
    const std::uint64_t bits = std::uint64_t{bytes_.size()} * 8;
    at(PacketLayout::kMagic, kMagic);
    std::copy(uuid_.begin(), uuid_.end(), bytes_.begin() + PacketLayout::kUuid);
    at(PacketLayout::kInstance, std::uint64_t{cpu_});
    at(PacketLayout::kBegin, begin_ns_);
    at(PacketLayout::kEnd, last_ns_);
    at(PacketLayout::kContentBits, bits);
    at(PacketLayout::kPacketBits, bits);
    at(PacketLayout::kSequence, sequence_++);
    at(PacketLayout::kDiscarded, discarded_);
    at(PacketLayout::kCpu, std::uint32_t{cpu_});
    const FileDescriptor file = open_file(path_, O_WRONLY | O_APPEND);
    write_all(file.get(), {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}, path_);
    written_ += bytes_.size();
    bytes_ = {};
  }

  std::string path_;
  unsigned cpu_;
  Uuid uuid_;
  ByteOrder order_;
  std::vector<std::uint8_t> bytes_;  // bytes of the current packet; empty if there is none
  std::uint64_t begin_ns_ = 0, last_ns_ = 0;
  std::uint64_t sequence_ = 0, discarded_ = 0;  // values of the next packet
  std::uint64_t lost_events_ = 0, lost_packets_ = 0;
  bool lost_pending_ = false;
  std::uint64_t written_ = 0;
};

struct WrittenEvent {
  std::vector<WrittenField> fields;
  FormatField flags, preempt_count, task;  // common fields
  std::size_t least_bytes = 0;             // minimum size of a record that has all fields, in bytes
  std::size_t format = 0;                  // index of the format
};

WrittenEvent written_event(const EventFormat& format, std::size_t index) {
  WrittenEvent event{written_fields(format), {}, {}, {}, 2, index};
  for (const WrittenField& field : event.fields)
    if (field.form != FieldForm::rest)
      event.least_bytes = std::max<std::size_t>(event.least_bytes, std::size_t{field.field.offset} + field.field.size);
  const auto common = [&](const char* name, unsigned size) {
    const FormatField* const field = format.field(name);
    if (field == nullptr || field->size != size) return FormatField{};
    event.least_bytes = std::max<std::size_t>(event.least_bytes, std::size_t{field->offset} + field->size);
    return *field;
  };
  event.flags = common("common_flags", 1);
  event.preempt_count = common("common_preempt_count", 1);
  event.task = common("common_pid", 4);
  return event;
}

Uuid random_uuid() {
  Uuid uuid;
  std::random_device random;
  for (std::uint8_t& byte : uuid) byte = static_cast<std::uint8_t>(random());
  uuid[6] = static_cast<std::uint8_t>((uuid[6] & 0x0F) | 0x40);  // version 4 (random) of RFC 4122
  uuid[8] = static_cast<std::uint8_t>((uuid[8] & 0x3F) | 0x80);
  return uuid;
}

// Writes data that CTF cannot store: symbols, the kernel's format descriptions, task names, samples and notes.
void write_description(const std::string& path, TraceDescription description, const Findings& findings) {
  KernelDescription& kernel = description.kernel;
  for (StateSample& sample : description.samples) sample.ticks = kernel.clock_scale.to_ns(sample.ticks);
  const bool scaled = kernel.clock_scale.mult != 0;
  kernel.clock_scale = {};
  if (scaled) kernel.clock_scale.mult = 1;
  kmt_format::RecordWriter writer(path, findings);
  writer.describe(description);
  writer.finish();
}

}  // namespace

struct RecordWriter::State {
  fs::path folder;
  Findings& findings;
  std::optional<NewFolder> output = {};
  Uuid uuid = random_uuid();
  TraceDescription description;
  std::vector<EventFormat> formats;
  std::unordered_map<unsigned, WrittenEvent> events;  // by event ID
  std::set<std::size_t> used;                         // indices of the formats of events that were written
  std::map<unsigned, PacketWriter> cpus;
  PacketWriter* packets = nullptr;  // packets of the current stream

  const KernelDescription& kernel() const { return description.kernel; }
  fs::path unfinished() const { return output->unfinished(); }
  void put_event(const WrittenEvent& event, Bytes record);
  void put_field(const WrittenField& written, Bytes record);
  std::pair<std::size_t, std::size_t> place_of(const FormatField& field, Bytes record) const;
};

RecordWriter::RecordWriter(const std::string& folder, Findings& findings) : state_(new State{folder, findings}) {
  if (!state_->folder.has_filename()) state_->folder = state_->folder.parent_path();  // removes the slash of "folder/"
}

RecordWriter::~RecordWriter() = default;

void RecordWriter::describe(const TraceDescription& description) {
  std::error_code code;
  if (fs::exists(state_->folder, code) && !(fs::is_directory(state_->folder) && fs::is_empty(state_->folder, code)))
    throw Error("Cannot write a CTF trace: the folder exists and is not empty")
        .at({state_->folder, {}, {}})
        .hint("Remove it, or give another folder");
  state_->output.emplace(state_->folder);
  make_folder(state_->unfinished() / "kernel");
  state_->description = description;
  name_machine(description.uname, state_->description.kernel);
  Findings ignored;  // not used, because readers of the written trace report these findings again
  state_->formats = parse_event_formats(state_->kernel().formats, ignored);
  for (std::size_t i = 0; i < state_->formats.size(); ++i)
    state_->events.emplace(state_->formats[i].id, written_event(state_->formats[i], i));
}

void RecordWriter::begin_stream(const RecordStream& stream) {
  if (!stream.buffer.empty())
    throw Error(fmt::format("Cannot write the buffer \"{}\": a CTF trace is written with one buffer only",
                            printable(stream.buffer)))
        .hint("Convert to .kmt instead, which can store all buffers");
  const auto [packets, is_new] = state_->cpus.try_emplace(stream.cpu, state_->unfinished() / written_stream(stream.cpu),
                                                          stream.cpu, state_->uuid, state_->kernel().byte_order);
  if (!is_new && !stream.goes_on) throw Error(fmt::format("The trace has two ring buffers of cpu {}", stream.cpu));
  state_->packets = &packets->second;
}

void RecordWriter::record(std::uint64_t ticks, Bytes record) {
  PacketWriter& packets = *state_->packets;
  const unsigned id = record.size() < 2 ? 0 : load<std::uint16_t>(record.data(), state_->kernel().byte_order);
  const auto event = state_->events.find(id);
  std::uint64_t time_ns = state_->kernel().clock_scale.to_ns(ticks);
  const unsigned cpu = packets.cpu();
  if (event == state_->events.end() || record.size() < event->second.least_bytes) {
    const bool is_known = event != state_->events.end();
    state_->findings.add({is_known ? Imperfection::short_record : Imperfection::unknown_event,
                          fmt::format("event id {}, {} bytes: it is left out", id, record.size()),
                          cpu,
                          {},
                          time_ns});
    return;
  }
  if (time_ns < packets.last_ns()) {
    state_->findings.add(
        {Imperfection::time_goes_backward,
         fmt::format("by {} ns: CTF cannot store this, so the event is written with the time of the previous event",
                     packets.last_ns() - time_ns),
         cpu,
         {},
         time_ns});
    time_ns = packets.last_ns();
  }
  state_->used.insert(event->second.format);
  packets.begin_event(time_ns);
  packets.put(static_cast<std::uint16_t>(id));
  packets.put(time_ns);
  state_->put_event(event->second, record);
  packets.end_event();
}

void RecordWriter::State::put_event(const WrittenEvent& event, Bytes record) {
  const auto common = [&](const FormatField& field) {
    return field.size == 0 ? 0 : load_sized(record.data() + field.offset, field.size, kernel().byte_order);
  };
  packets->put(static_cast<std::uint32_t>(common(event.task)));
  packets->put(static_cast<std::uint8_t>(common(event.flags)));
  packets->put(static_cast<std::uint8_t>(common(event.preempt_count)));
  for (const WrittenField& field : event.fields) put_field(field, record);
}

// Returns offset and size of the value of a __data_loc or __rel_loc. Empty if they are invalid.
std::pair<std::size_t, std::size_t> RecordWriter::State::place_of(const FormatField& field, Bytes record) const {
  const auto place = load<std::uint32_t>(record.data() + field.offset, kernel().byte_order);
  const std::size_t offset = (place & 0xFFFF) + (field.is_relative ? field.offset + 4u : 0), bytes = place >> 16;
  return offset + bytes <= record.size() ? std::pair(offset, bytes) : std::pair(std::size_t{0}, std::size_t{0});
}

void RecordWriter::State::put_field(const WrittenField& written, Bytes record) {
  const FormatField& field = written.field;
  std::size_t offset = field.offset, bytes = field.size;
  if (written.form == FieldForm::text || written.form == FieldForm::sequence)
    std::tie(offset, bytes) = place_of(field, record);
  else if (written.form == FieldForm::rest)
    bytes = record.size() - std::min(record.size(), offset);
  if (written.form == FieldForm::text) {
    const Bytes text = record.subspan(offset, bytes);
    packets->put_bytes(text.first(static_cast<std::size_t>(std::find(text.begin(), text.end(), 0) - text.begin())));
    packets->put(std::uint8_t{0});
    return;
  }
  if (written.form == FieldForm::sequence || written.form == FieldForm::rest) {
    const std::size_t count = std::min<std::size_t>(bytes / written.element_size, 0xFFFF);
    packets->put(static_cast<std::uint16_t>(count));
    bytes = count * written.element_size;
  }
  packets->put_bytes(record.subspan(std::min(offset, record.size()), bytes));
}

void RecordWriter::lost(std::optional<std::uint64_t> count) { state_->packets->lost(count); }

void RecordWriter::end_stream() { state_->packets->pause(); }

void RecordWriter::finish() {
  std::string& streams = state_->description.kernel.notes[kStreamsNote];
  for (auto& [cpu, packets] : state_->cpus) {
    packets.finish();
    streams += fmt::format("{} {}\n", cpu, packets.written());
  }
  std::vector<EventFormat> used;
  for (const std::size_t format : state_->used) used.push_back(state_->formats[format]);
  const fs::path metadata = state_->unfinished() / "kernel" / "metadata";
  const FileDescriptor file = open_file(metadata, O_WRONLY | O_CREAT | O_EXCL);
  write_all(file.get(), metadata_text(state_->kernel(), state_->uuid, used), metadata);
  write_description(state_->unfinished() / kDescriptionName, state_->description, state_->findings);
  state_->output->finish();
}

}  // namespace kmt::ctf
