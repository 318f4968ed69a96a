// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/perfdata/record_parser.hpp"

#include <fmt/format.h>

#include "base/arithmetic/size.hpp"
#include "base/error.hpp"
#include "formats/perfdata/layout.hpp"

namespace kmt::perfdata {

namespace {

constexpr std::uint32_t kMostCpu = 0xFFFF;
// Larger numbers of lost events are damage. This number is a billion events per second for three days.
constexpr std::uint64_t kMostLost = std::uint64_t{1} << 48;

// False for the values that perf uses for records without a time.
constexpr bool is_time(std::uint64_t time_ns) { return time_ns != 0 && time_ns != ~std::uint64_t{0}; }

}  // namespace

RecordParser::RecordParser(Bytes file, const FileContents& contents, Findings& findings)
    : contents_(contents),
      findings_(findings),
      cursor_(file, contents.data_begin, contents.data_end, contents.order(), true, findings) {
  for (const Attribute& attribute : contents.attributes.all())
    layouts_.emplace_back(attribute, contents_.description.kernel.machine);
}

RecordParser::Kind RecordParser::next() {
  while (cursor_.next(record_)) {
    if (record_.type == kFinishedRound) return Kind::round_end;
    if (!is_known_type(record_.type))
      findings_.add({Imperfection::unknown_section, fmt::format("record of type {}", record_.type), {}, offset()});
    else if (record_.type < kUserTypes)
      if (const auto kind = take_kernel_record()) return *kind;
  }
  return Kind::end;
}

std::optional<RecordParser::Kind> RecordParser::take_kernel_record() {
  try {
    if (record_.type == kSample) return take_sample() ? std::optional(Kind::sample) : std::nullopt;
    const Trailer at_end = trailer();
    if (is_time(at_end.time_ns)) note_time(at_end.time_ns);
    switch (record_.type) {
      case kComm:
      case kFork:
        task_ = read_task_change(record_, contents_.order());
        task_.time_ns = is_time(at_end.time_ns) ? at_end.time_ns : 0;
        task_.at_end = task_.time_ns == 0 && has_times_;
        return Kind::task;
      case kMmap:
      case kMmap2:
        task_ = {};
        task_.mapping = read_mapping(record_, contents_.order());
        if (!task_.mapping) break;
        task_.time_ns = is_time(at_end.time_ns) ? at_end.time_ns : 0;
        return Kind::task;
      case kLostSamples:
        if ((record_.misc & kDroppedByFilter) != 0) break;  // not a loss: perf record --filter has dropped the samples
        [[fallthrough]];
      case kLost:
      case kThrottle: take_loss(at_end); return Kind::loss;
      default: break;
    }
  } catch (const Error& error) {
    damaged(error.what());
  }
  return std::nullopt;
}

// Finds the event of a sample by its ID. If a file has several events, the ID is at the same position in all samples.
bool RecordParser::find_attribute() {
  if (layouts_.empty()) return false;
  if (layouts_.size() == 1) return true;
  const auto id = layouts_.front().id(record_.payload, contents_.order());
  if (!id) return false;
  KnownId& known = known_ids_[to_size(*id % known_ids_.size())];
  if (known.id != *id || !known.attribute) known = {*id, contents_.attributes.of_id(*id)};
  attribute_ = known.attribute.value_or(0);
  return known.attribute.has_value();
}

bool RecordParser::take_sample() {
  if (!find_attribute()) {
    findings_.add({Imperfection::unknown_event, "a sample whose event the file does not describe", {}, offset()});
    return false;
  }
  if (!layouts_[attribute_].read(record_.payload, contents_.order(), sample_)) {
    findings_.add({Imperfection::short_record, "a sample is shorter than its fields", {}, offset()});
    cursor_.distrust(record_, "impossible sample inside");
    return false;
  }
  sample_.cpu = checked_cpu(sample_.cpu);
  sample_.mode = record_.misc & kCpuModeMask;
  if (is_time(sample_.time_ns))
    note_time(sample_.time_ns);
  else
    sample_.time_ns = 0;
  return true;
}

void RecordParser::note_time(std::uint64_t time_ns) {
  has_times_ = true;
  limit_.note(time_ns);
}

void RecordParser::take_loss(const Trailer& trailer) {
  ByteReader in(record_.payload, contents_.order(), offset() + kRecordHeaderBytes);
  loss_ = {std::nullopt, is_time(trailer.time_ns) ? trailer.time_ns : 0, 0, offset()};
  std::optional<std::uint64_t> id = trailer.id;
  if (record_.type == kLost) id = in.u64();
  if (record_.type != kThrottle) loss_.count = in.u64();
  if (loss_.count.value_or(0) > kMostLost) throw Error("impossible number of lost events");
  // A record that perf adds at the end has no time and no CPU. The CPU is then found by the event ID.
  std::optional<std::uint32_t> cpu = trailer.cpu;
  if (loss_.time_ns == 0 && id)
    if (const auto of_id = contents_.attributes.cpu_of_id(*id)) cpu = of_id;
  loss_.cpu = checked_cpu(cpu);
}

Trailer RecordParser::trailer() const {
  if (contents_.attributes.empty()) return {};
  const Attribute& first = contents_.attributes.all().front();
  if (!first.ids_in_all) return {};
  return read_trailer(record_.payload, first.sample_type, contents_.order()).value_or(Trailer{});
}

// Returns the CPU of a record. If only one task was recorded, records may have no CPU, and then count as records of CPU
// 0. Throws Error if the number is impossible.
std::uint16_t RecordParser::checked_cpu(std::optional<std::uint32_t> cpu) {
  if (cpu && *cpu > kMostCpu) throw Error("impossible CPU");
  return static_cast<std::uint16_t>(cpu.value_or(0));
}

void RecordParser::damaged(const char* what) {
  findings_.add({Imperfection::damaged_record, what, {}, offset()});
  cursor_.distrust(record_, what);
}

}  // namespace kmt::perfdata
