// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/relay/reader.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "formats/cpu_streams.hpp"
#include "formats/ftrace/record_decoder.hpp"
#include "formats/relay/guess.hpp"
#include "formats/relay/walker.hpp"

namespace kmt::relay {

namespace {

constexpr std::size_t kBatchEvents = 256;

// The events of relay files. They are added to TraceTables::event_types in this order.
constexpr struct {
  EventKind kind;
  Type type;
  bool allocates;
  const char* system;
  const char* name;
} kEvents[] = {{EventKind::kmalloc, Type::kmalloc, true, "kmem", "kmalloc"},
               {EventKind::kfree, Type::kmalloc, false, "kmem", "kfree"},
               {EventKind::cache_alloc, Type::cache, true, "kmem", "kmem_cache_alloc"},
               {EventKind::cache_free, Type::cache, false, "kmem", "kmem_cache_free"},
               {EventKind::other, Type::pages, true, "kmemtrace", "page_alloc"},
               {EventKind::other, Type::pages, false, "kmemtrace", "page_free"}};

// State shared by all files of a capture.
struct Common {
  explicit Common(TraceInfo& trace_info) : info(trace_info), call_sites(trace_info.tables.call_sites) {
    for (const auto& event : kEvents) info.tables.event_types.push_back({event.system, event.name, event.kind});
  }

  TraceInfo& info;
  CallSiteTable call_sites;
  Abi abi;
};

// Returns the times of records. In a layout without times, a time is the sequence number, which is extended beyond 32
// bits.
class RecordClock {
 public:
  RecordClock() = default;
  RecordClock(std::uint32_t first_number, std::int64_t first_time) : number_(first_number), time_(first_time) {}

  std::uint64_t time_of(const Record& record, const Layout& layout) {
    if (layout.sequence.bytes == 0) return record.time_ns;
    time_ = std::max<std::int64_t>(0, time_after_last(record));
    number_ = record.sequence;
    return static_cast<std::uint64_t>(time_);
  }
  // Returns the time of a record that has a sequence number instead. The number may have wrapped around since the last
  // record.
  std::int64_t time_after_last(const Record& record) const {
    return time_ + static_cast<std::int32_t>(record.sequence - number_);
  }
  std::uint32_t number() const { return number_; }  // sequence number of the last record

 private:
  std::uint32_t number_ = 0;
  std::int64_t time_ = 0;
};

// Finds duplicate records in a file with sequence numbers, for example if a block was copied twice. The numbers
// increase within a file, so the search for the earlier copy starts at the nearest stored position. `time` is
// RecordClock's extended sequence number.
class Repeats {
 public:
  Repeats(Bytes file, const Abi& abi) : file_(file), abi_(abi), earlier_(file, abi) {}

  bool has(std::int64_t time, Bytes record) {
    if (!highest_ || time > *highest_) return false;
    const auto after = std::ranges::upper_bound(places_, time, {}, &Place::time);
    if (after == places_.begin()) return false;
    const Place& place = *std::prev(after);
    // If possible, continue after the last match, because the records of a block that was copied twice follow each
    // other in both copies.
    if (!found_ || found_->time > time || found_->time < place.time) {
      earlier_ = Walker(file_, abi_, place.offset);
      found_.reset();
      find_next(place.time);
    }
    for (unsigned steps = 0; found_ && found_->time < time; ++steps) {
      if (steps == kMostSteps) return false;
      find_next(found_->time);
    }
    return found_ && found_->time == time && std::ranges::equal(found_->bytes, record);
  }

  // Remembers a record that is not a duplicate.
  void add(std::int64_t time, std::uint64_t offset) {
    if (highest_ && time <= *highest_) return;  // the number is too low, so it is damaged
    highest_ = time;
    if (since_place_++ % kRecordsAPlace == 0) places_.push_back({time, offset});
  }

 private:
  static constexpr unsigned kRecordsAPlace = 256;
  static constexpr unsigned kMostSteps = 4 * kRecordsAPlace;
  struct Place {
    std::int64_t time;
    std::uint64_t offset;
  };
  struct Found {
    std::int64_t time;
    std::uint32_t number;
    Bytes bytes;
  };

  // Stores the next record of `earlier_` in found_. `time` is the time of the record that found_ has so far. If found_
  // is empty, `time` is the time of the next record.
  void find_next(std::int64_t time) {
    for (Step step; earlier_.next(step);) {
      if (step.kind != Step::Kind::record) continue;
      const Bytes bytes = earlier_.bytes_of(step);
      const std::uint32_t number = parse(bytes, abi_).sequence;
      if (found_) time += static_cast<std::int32_t>(number - found_->number);
      found_ = {time, number, bytes};
      return;
    }
    found_.reset();
  }

  Bytes file_;
  Abi abi_;
  Walker earlier_;
  std::optional<Found> found_;  // the last record that `earlier_` returned
  std::vector<Place> places_;
  unsigned since_place_ = 0;
  std::optional<std::int64_t> highest_;
};

class FileStream : public CpuStream {
 public:
  FileStream(const CpuFile& file, RecordClock clock, Common& common, std::uint64_t& consumed)
      : file_(file),
        bytes_(file.file.mapping.get(), file.file.bytes),
        walker_(file.file.bytes, common.abi),
        clock_(clock),
        repeats_(file.file.bytes, common.abi),
        common_(common),
        consumed_(consumed) {}

  bool read(EventBatch& batch) override {
    batch.clear();
    Step step;
    while (batch.size() < kBatchEvents && walker_.next(step)) {
      consumed_ += step.bytes;
      switch (step.kind) {
        case Step::Kind::record: add(step, batch); break;
        case Step::Kind::null: add_null(step); break;
        case Step::Kind::torn: add_torn(step); break;
      }
      bytes_.read_until(step.offset);
    }
    return !batch.empty();
  }

 private:
  void add(const Step& step, EventBatch& batch) {
    const Layout& layout = *common_.abi.layout;
    Record record = parse(walker_.bytes_of(step), common_.abi);
    if (layout.sequence.bytes != 0) {
      if (is_repeated(record, step)) return;
      mend_number(record, step);
      repeats_.add(clock_.time_after_last(record), step.offset);
    }
    Event& event = batch.emplace_back();
    event = {};
    const auto* const known = std::ranges::find_if(
        kEvents, [&](const auto& one) { return one.type == record.type && one.allocates == record.allocates; });
    event.kind = known->kind;
    event.type = {static_cast<std::uint16_t>(known - std::begin(kEvents))};
    event.cpu = static_cast<std::uint16_t>(layout.cpu.bytes == 0 ? file_.cpu : record.cpu);
    event.time_ns = clock_.time_of(record, layout);
    event.address = record.ptr;
    event.bytes_requested = record.bytes_requested;
    event.bytes_allocated = record.bytes_allocated;
    event.gfp_flags = static_cast<std::uint32_t>(record.gfp_flags);
    event.call_site = common_.call_sites.id_of(record.call_site);
    event.tid = -1;  // unknown, because no layout stores the task
    event.node = static_cast<std::int16_t>(std::clamp(record.node, -1, 0x7FFF));
    event.migrate_type = -1;
    if (layout.has_null_records && (record.ptr == 0 || (record.allocates && record.bytes_requested == 0)))
      report(Imperfection::illegal_record, record.ptr == 0 ? "NULL" : "no bytes", step, event.time_ns);
    follow(event, step);
  }

  bool is_repeated(const Record& record, const Step& step) {
    const std::int64_t time = clock_.time_after_last(record);
    if (!repeats_.has(time, walker_.bytes_of(step))) return false;
    report(Imperfection::duplicate_record, fmt::format("number {}", time), step, last_time_);
    return true;
  }

  // Corrects a damaged sequence number. Numbers increase within a file, so a number that is larger than the next
  // record's number is damaged. Without the correction, the gap before it would look like a large loss.
  void mend_number(Record& record, const Step& step) {
    const std::uint32_t last = clock_.number();
    const auto ahead = static_cast<std::int32_t>(record.sequence - last);
    if (ahead <= 1) return;
    Walker rest = walker_;
    Step next;
    if (!rest.next(next) || next.kind != Step::Kind::record) return;
    const auto next_ahead = static_cast<std::int32_t>(parse(rest.bytes_of(next), common_.abi).sequence - last);
    if (next_ahead <= 1 || next_ahead >= ahead) return;
    report(Imperfection::damaged_number, fmt::format("{} after {}", record.sequence, last), step, last_time_);
    record.sequence = number_between(last, record.sequence, static_cast<std::uint32_t>(next_ahead));
  }

  // Returns a number between those of the previous and the next record. If possible, the number differs from the
  // damaged one in a single bit. Otherwise it is the first possible number.
  static std::uint32_t number_between(std::uint32_t last, std::uint32_t damaged, std::uint32_t next_ahead) {
    for (std::uint32_t bit = 1; bit != 0; bit <<= 1)
      if (const std::uint32_t ahead = (damaged ^ bit) - last; ahead > 0 && ahead < next_ahead) return damaged ^ bit;
    return last + 1;
  }

  // Ends an open loss at this event. Adds a finding if the event is earlier than the CPU's last event.
  void follow(const Event& event, const Step& step) {
    if (lost_open_) common_.info.losses.intervals[lost_index_].after_ns = event.time_ns;
    lost_open_ = false;
    std::uint64_t& last = last_ns_[event.cpu];
    if (event.time_ns < last)
      report(Imperfection::time_goes_backward,
             fmt::format("by {}{}", last - event.time_ns, common_.info.clock.in_ns ? " ns" : ""), step, event.time_ns);
    last = event.time_ns;
    last_cpu_ = event.cpu;
    common_.info.machine.cpus = std::max(common_.info.machine.cpus, event.cpu + 1u);  // a v3 file may have several CPUs
    last_time_ = event.time_ns;
  }

  void report(Imperfection kind, std::string detail, const Step& step, std::uint64_t time_ns) {
    common_.info.findings.add({kind, std::move(detail), last_cpu(), step.offset, time_ns});
  }

  void add_null(const Step& step) {
    if (lost_open_ && common_.info.losses.intervals[lost_index_].count)
      ++*common_.info.losses.intervals[lost_index_].count;
    else
      add_lost(1, step);
    report(Imperfection::null_record, "", step, last_time_);
  }

  void add_torn(const Step& step) {
    const bool goes_on = step.offset != 0 && step.offset == torn_end_;  // long damage is split into several steps
    torn_end_ = step.offset + step.bytes;
    if (goes_on) return;
    const bool at_end = torn_end_ == file_.file.bytes.size();
    // If the layout has sequence numbers, a gap in them already shows the loss, except at the end of the file.
    if (common_.abi.layout->sequence.bytes == 0 || at_end) add_lost({}, step);
    report(Imperfection::torn_record,
           at_end ? fmt::format("the last {} bytes", step.bytes)
                  : fmt::format("{} bytes{}", step.bytes, step.bytes < 0x1000 ? "" : " or more"),
           step, last_time_);
  }

  void add_lost(std::optional<std::uint64_t> count, const Step& step) {
    lost_open_ = true;
    lost_index_ = common_.info.losses.intervals.size();
    common_.info.losses.intervals.push_back({last_cpu(), count, last_time_, 0, step.offset});
  }

  unsigned last_cpu() const { return last_cpu_.value_or(file_.cpu); }

  CpuFile file_;
  ReadOnce bytes_;
  Walker walker_;
  RecordClock clock_;
  Repeats repeats_;
  Common& common_;
  std::uint64_t& consumed_;
  std::map<unsigned, std::uint64_t> last_ns_;  // by CPU
  std::optional<unsigned> last_cpu_;
  std::uint64_t last_time_ = 0;
  std::uint64_t torn_end_ = 0;
  bool lost_open_ = false;      // true if the loss at lost_index_ ends at the next record
  std::size_t lost_index_ = 0;  // index into TraceLosses::intervals
};

std::optional<std::uint32_t> first_number(const CpuFile& file, const Abi& abi) {
  Walker walker(file.file.bytes, abi);
  for (Step step; walker.next(step);)
    if (step.kind == Step::Kind::record) return parse(walker.bytes_of(step), abi).sequence;
  return std::nullopt;
}

// Returns a clock for each file. Sequence numbers wrap around, so the first number of each file is compared with that
// of the first file. If a time would be negative, all times are shifted.
std::vector<RecordClock> clocks_of(const std::vector<CpuFile>& files, const Abi& abi) {
  std::vector<RecordClock> clocks(files.size());
  if (abi.layout->sequence.bytes == 0) return clocks;
  std::vector<std::optional<std::uint32_t>> firsts;
  std::optional<std::uint32_t> reference;
  std::int64_t earliest = 0;
  const auto time_of = [&reference](std::uint32_t number) {
    return std::int64_t{*reference} + static_cast<std::int32_t>(number - *reference);
  };
  for (const CpuFile& file : files) {
    const std::optional<std::uint32_t> first = firsts.emplace_back(first_number(file, abi));
    if (!first) continue;
    if (!reference) reference = first;
    earliest = std::min(earliest, time_of(*first));
  }
  const std::int64_t shift = earliest < 0 ? std::int64_t{1} << 32 : 0;
  for (std::size_t i = 0; i < files.size(); ++i)
    if (firsts[i]) clocks[i] = RecordClock(*firsts[i], time_of(*firsts[i]) + shift);
  return clocks;
}

// Looks for gaps and duplicates in the sequence numbers of all files together.
class Sequence {
 public:
  // Removes duplicate records from the batch.
  void check(EventBatch& batch, TraceInfo& info) {
    std::erase_if(batch, [&](const Event& event) { return is_duplicate(event, info); });
  }

 private:
  bool is_duplicate(const Event& event, TraceInfo& info) {
    const std::uint64_t number = event.time_ns;
    if (last_ && number == *last_) {
      info.findings.add({Imperfection::duplicate_record, fmt::format("number {}", number), event.cpu});
      return is_same(event);  // the numbers are equal but the events differ, so one number is damaged
    }
    if (!last_ && number > 1)
      info.findings.add({Imperfection::late_first_number, fmt::format("it is {}", number), event.cpu});
    if (last_ && number > *last_ + 1) {
      const std::uint64_t missing = number - *last_ - 1;
      info.losses.somewhere += missing;
      info.findings.add(
          {Imperfection::sequence_gap, fmt::format("{} before number {}", missing, number), event.cpu, {}, {}},
          missing);
    }
    last_ = std::max(last_.value_or(number), number);
    last_event_ = event;
    return false;
  }

  bool is_same(const Event& event) const {
    return event.kind == last_event_.kind && event.address == last_event_.address &&
           event.call_site == last_event_.call_site;
  }

  std::optional<std::uint64_t> last_;
  Event last_event_ = {};
};

unsigned word_bits_of(const Capture& capture, const Guess& guess) {
  if (guess.abi.layout->call_site.bytes == 4) return 32;
  // V3-64 is the only layout with both a CPU and a call site of 8 bytes.
  if (guess.abi.layout->cpu.bytes != 0) return 64;
  const std::size_t digits = capture.kallsyms.find(' ');
  if (digits == 8 || digits == 16) return static_cast<unsigned>(digits) * 4;
  return guess.all_addresses_short ? 32 : 64;
}

class RelaySource : public Source {
 public:
  RelaySource(Capture capture, const OpenOptions& options) : capture_(std::move(capture)), common_(info_) {
    if (options.buffer && !options.buffer->empty()) throw no_such_buffer(*options.buffer, {""});
    info_.path = capture_.path;
    const Guess guess = layout_of(options.abi);
    common_.abi = guess.abi;
    fill_info(guess);
    report_what_is_missing(options.one_cpu_alone);
    checks_sequence_ = guess.abi.layout->sequence.bytes != 0 && !options.one_cpu_alone;
    open_streams();
  }

  const TraceInfo& info() const override { return info_; }
  TraceInfo& info() override { return info_; }
  double progress() const override { return streams_.progress(); }
  bool read(EventBatch& batch) override {
    while (streams_.read(batch)) {
      if (checks_sequence_) sequence_.check(batch, info_);
      if (!batch.empty()) return true;
    }
    return false;
  }

 private:
  Guess layout_of(const std::string& abi) {
    std::vector<Bytes> files;
    for (const CpuFile& file : capture_.files) files.push_back(file.file.bytes);
    if (!abi.empty()) return fit_of(parse_abi(abi), files);
    if (std::ranges::all_of(files, &Bytes::empty)) return {};  // there are no records, so any layout fits
    const std::optional<Guess> guess = guess_abi(files);
    if (!guess)
      throw Error("The files have no kmemtrace records in any known layout")
          .hint("--abi reads them in a given layout anyway");
    info_.findings.add(
        {guess->is_ambiguous() ? Imperfection::ambiguous_layout : Imperfection::guessed_layout, describe(*guess)});
    return *guess;
  }

  void fill_info(const Guess& guess) {
    info_.format = fmt::format("kmemtrace relay files, layout {}", name_of(guess.abi));
    info_.machine.byte_order = guess.abi.order;
    info_.machine.word_bits = word_bits_of(capture_, guess);
    // v0 and v1 use ktime_get(), v3 uses the ring buffer's own clock. v2 has only sequence numbers, like ftrace's
    // counter clock.
    const Layout& layout = *guess.abi.layout;
    info_.clock.name = layout.sequence.bytes != 0 ? "counter" : layout.cpu.bytes != 0 ? "local" : "mono";
    info_.clock.in_ns = layout.sequence.bytes == 0;
    if (!info_.clock.in_ns)
      info_.findings.add({Imperfection::clock_not_nanoseconds, "records have sequence numbers instead of times"});
    info_.code.kallsyms = std::move(capture_.kallsyms);
    info_.recording.buffers = {""};
    for (const CpuFile& file : capture_.files) info_.machine.cpus = std::max(info_.machine.cpus, file.cpu + 1);
    for (const unsigned cpu : capture_.omitted) info_.machine.cpus = std::max(info_.machine.cpus, cpu + 1);
  }

  void report_what_is_missing(bool one_cpu_alone) {
    if (capture_.bad_kallsyms) info_.findings.add({Imperfection::unreadable_symbols, "kallsyms next to the files"});
    if (!capture_.total_overruns)
      info_.findings.add({Imperfection::unknown_loss, capture_.bad_total_overruns
                                                          ? "total_overruns next to the files has no readable number"
                                                          : "there is no total_overruns next to the files"});
    if (const std::uint64_t overruns = capture_.total_overruns.value_or(0); overruns > 0) {
      info_.losses.somewhere += overruns;
      info_.findings.add(
          {Imperfection::lost_events, fmt::format("total_overruns counts at least {}", overruns), {}, {}, {}},
          overruns);
    }
    if (one_cpu_alone || common_.abi.layout->cpu.bytes != 0) return;
    for (unsigned cpu = 0; cpu < info_.machine.cpus; ++cpu) {
      if (std::ranges::binary_search(capture_.files, cpu, {}, &CpuFile::cpu)) continue;
      const bool beside = std::ranges::find(capture_.omitted, cpu) != capture_.omitted.end();
      info_.findings.add(
          {Imperfection::missing_cpu, beside ? "its file exists, but is not read" : "it has no file", cpu});
    }
  }

  void open_streams() {
    const std::vector<RecordClock> clocks = clocks_of(capture_.files, common_.abi);
    std::vector<CpuPart> parts;
    for (std::size_t i = 0; i < capture_.files.size(); ++i) {
      const CpuFile& file = capture_.files[i];
      parts.push_back({file.cpu, file.file.bytes.size(),
                       std::make_unique<FileStream>(file, clocks[i], common_, streams_.consumed())});
    }
    streams_.open(std::move(parts));
  }

  TraceInfo info_;
  Capture capture_;
  Common common_;
  CpuStreams streams_;
  Sequence sequence_;
  bool checks_sequence_ = false;
};

}  // namespace

bool is_relay(Bytes bytes) { return guess_abi({&bytes, 1}).has_value(); }

std::unique_ptr<Source> open(Capture capture, const OpenOptions& options) {
  return std::make_unique<RelaySource>(std::move(capture), options);
}

}  // namespace kmt::relay
