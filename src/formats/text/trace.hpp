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
#include "formats/text/lines.hpp"
#include "formats/text/task_lines.hpp"
#include "formats/trace_description.hpp"
#include "trace/event.hpp"

namespace kmt::text {

class TextTrace {
 public:
  // Borrows the bytes.
  explicit TextTrace(Bytes file);

  Bytes bytes() const { return file_; }
  const TraceDescription& description() const { return description_; }
  const Findings& findings() const { return findings_; }
  // True if the line states the name of its task, and that task may have several names.
  bool is_rename(const Line& line) const {
    return has_name(line) && (events_have_names_ || renamed_.count(line.tid) != 0);
  }

  // Makes a record of the line. Returns false if a value is unreadable, or if an essential value is missing.
  bool encode(const Line& line, std::vector<std::uint8_t>& record) const;

 private:
  struct Shape {  // format of one event
    std::string system;
    EventKind kind = EventKind::other;
    const TaskEvent* task = nullptr;
    unsigned id = 0;
    unsigned seen = 0;  // bit mask of the known fields that at least one line has
    std::vector<unsigned> known;
    std::vector<unsigned> offsets;
  };

  void learn(const Line& line);
  static bool has_name(const Line& line) { return line.tid > 0 && line.comm != "<...>"; }
  void learn_name(const Line& line);
  void learn_call_site(std::string_view fields);
  void learn_flags(std::string_view flags);
  void learn_pointer(std::string_view pointer);
  void learn_header(std::string_view line);
  void describe();
  std::optional<std::uint64_t> call_site_of(std::string_view fields) const;
  std::optional<std::uint64_t> flags_of(std::string_view flags) const;
  std::optional<std::uint64_t> frame_of(std::string_view fields) const;
  std::optional<std::uint64_t> value_at(unsigned field, std::string_view fields) const;

  static bool is_whole(EventKind kind, std::string_view fields);

  Bytes file_;
  TraceDescription description_;
  Findings findings_;
  std::map<std::string, Shape, std::less<>> shapes_;             // by event name
  std::map<std::string, std::uint64_t, std::less<>> functions_;  // "name [module]" and its made-up address
  std::map<std::string, std::uint64_t, std::less<>> flags_;      // flag names and their made-up bits
  std::map<std::int32_t, std::string> comms_;                    // last names by task
  std::set<std::int32_t> renamed_;                               // tasks with several names
  bool events_have_names_ = false;
  bool names_flags_ = false;  // true if a line has flag names; otherwise flags are numbers
  bool too_many_flags_ = false;
  bool time_in_ns_ = true;
  bool lacks_cpus_ = false;
  bool long_pointers_ = false;
  std::uint64_t pointers_ = 0;
  std::uint64_t hashed_pointers_ = 0;
  std::uint64_t hidden_pointers_ = 0;
  std::optional<std::uint64_t> overwritten_;  // from the header of a `trace` file
  unsigned cpus_ = 0;
};

}  // namespace kmt::text
