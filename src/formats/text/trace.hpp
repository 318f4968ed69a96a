// SPDX-License-Identifier: GPL-2.0-or-later
// Converts a text trace to records and format descriptions as a kernel might have written them. The result can be read
// like any other trace. All lines are read once before the first record is made.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "formats/ftrace/format_text.hpp"
#include "formats/text/buffer_statistics.hpp"
#include "formats/text/call_records.hpp"
#include "formats/text/entry_counts.hpp"
#include "formats/text/last_fields.hpp"
#include "formats/text/lines.hpp"
#include "formats/text/pointer.hpp"
#include "formats/text/repeated_lines.hpp"
#include "formats/text/task_lines.hpp"
#include "formats/trace_description.hpp"
#include "trace/event.hpp"

namespace kmt::text {

// A part of the text, in bytes from its start.
struct CpuRun {
  unsigned cpu = 0;
  std::uint64_t begin = 0, end = 0;
};

class TextTrace {
 public:
  // Borrows the bytes.
  explicit TextTrace(Bytes file);

  // Returns the lines of the trace, from its start.
  Lines lines() const { return Lines(file_, &known_); }
  const TraceDescription& description() const { return description_; }
  const Findings& findings() const { return findings_; }
  // The parts of the text that have events of one CPU each. Empty unless the text has the events of one CPU after those
  // of another, as `cat per_cpu/cpu*/trace` prints them.
  const std::vector<CpuRun>& unmerged_runs() const { return runs_; }
  // Number of entries that a header of the text counts, but that the text does not have.
  std::uint64_t missing_entries() const { return entries_.missing(); }
  // Names of the buffers that have events.
  std::vector<std::string> buffers() const { return {buffers_.begin(), buffers_.end()}; }
  // True if the line has the name of its task, and this task may have several names in the trace.
  bool is_rename(const Line& line) const {
    return has_name(line) && (events_have_names_ || renamed_.count(line.tid) != 0);
  }

  // Makes the record for a line. `offset` is the line's position in the file. Returns false if a value is unreadable,
  // or if an essential value is missing.
  bool encode(const Line& line, std::uint64_t offset, std::vector<std::uint8_t>& record) const;
  // Makes records of a call: one for its entry or exit, two for a leaf. Calls take(time, record) for each record.
  template <typename Take>
  void encode(const CallLine& call, std::vector<std::uint8_t>& record, const Take& take) const {
    const std::uint64_t function = address_of(call.function);
    if (call.part != CallPart::exit) {
      calls_.encode_entry(call, function, record);
      take(call.line.time, record);
    }
    if (call.part == CallPart::entry) return;
    calls_.encode_exit(call, function, record);
    take(end_of(call), record);
  }

 private:
  struct Shape {  // the form of one event's lines and records
    std::string system;
    EventKind kind = EventKind::other;
    const TaskEvent* task = nullptr;
    unsigned id = 0;
    unsigned seen = 0;  // bit mask of the known fields that at least one line has
    std::vector<unsigned> known;
    std::vector<unsigned> offsets;
    LastFields ends;
  };

  void skip_repeated(RepeatedLines repeats);
  void learn(const Line& line);
  void learn(const CallLine& call);
  void learn_place(const Line& line);
  void learn_order(const Line& line, std::uint64_t offset);
  void forget_usual_order();
  static bool has_name(const Line& line) { return line.tid > 0 && line.comm != kUnknownName; }
  void learn_name(const Line& line);
  void learn_function(std::string_view function);
  void learn_call_site(std::string_view fields);
  void learn_flags(std::string_view flags);
  void describe();
  void describe_losses();
  std::uint64_t address_of(std::string_view function) const;
  std::optional<std::uint64_t> call_site_of(std::string_view fields) const;
  std::optional<std::uint64_t> flags_of(std::string_view flags) const;
  std::optional<std::uint64_t> frame_of(std::string_view fields) const;
  std::optional<std::uint64_t> value_at(unsigned field, std::string_view fields, std::uint64_t offset,
                                        bool is_object) const;

  Bytes file_;
  Lines::Known known_;
  CallRecordFormat calls_;
  TraceDescription description_;
  Findings findings_;
  std::map<std::string, Shape, std::less<>> shapes_;             // by event name
  std::map<std::string, std::uint64_t, std::less<>> functions_;  // key: "name [module]"; value: the made-up address
  std::map<std::string, std::uint64_t, std::less<>> flags_;      // key: name of a flag; value: the made-up bit
  std::set<std::string, std::less<>> buffers_;
  std::map<std::int32_t, std::string> comms_;  // latest name of each task
  std::set<std::int32_t> renamed_;             // tasks with several names
  bool events_have_names_ = false;
  bool names_flags_ = false;  // true if flags are printed as names, at least in one line
  bool too_many_flags_ = false;
  bool time_in_ns_ = true;
  bool lacks_cpus_ = false, nameless_lack_cpus_ = false;
  bool lacks_times_ = false;
  PointerCounts pointers_;
  EntryCounts entries_;
  BufferStatisticsLines statistics_;
  unsigned cpus_ = 0;
  std::uint64_t latest_time_ = 0;
  bool is_merged_ = true;  // the lines of all CPUs are in the order of time
  std::vector<CpuRun> runs_;
  std::uint64_t lines_ = 0;            // number of lines with events or calls
  std::uint64_t collapsed_calls_ = 0;  // lines that stand for several calls
};

}  // namespace kmt::text
