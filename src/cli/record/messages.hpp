// SPDX-License-Identifier: GPL-2.0-or-later
// What `record` says on stderr while it records and at the end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/session/recording.hpp"
#include "cli/record/request.hpp"
#include "cli/support/say.hpp"

namespace kmt {

class ProgressLine {
 public:
  explicit ProgressLine(bool wanted);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // What is done before anything is recorded: "Attaching to 71 functions".
  void show(std::string_view preparation);
  // `written`: bytes of trace so far.
  void update(const RecordProgress& progress, std::uint64_t written);
  void clear();

 private:
  bool wanted_;
  bool is_shown_ = false;
  double shown_at_ = 0;
  double cpu_seconds_ = 0;
  std::uint64_t seen_ = 0;  // events, lost or not
};

// What was written where.
struct WrittenTrace {
  std::string path;         // the only or the last file; empty: nobody knows of it
  std::uint64_t bytes = 0;  // of it
  unsigned files = 1;
  unsigned files_removed = 0;
  std::optional<std::uint64_t> events;  // of a flight recorder's file: not all that were recorded
};

// That an instance could not be removed.
void say_left_open(const std::string& instance);

// What is said of events that were missed; `function` "": of any, `some_tasks`: only some are recorded.
std::string missed_line(const std::string& function, std::uint64_t count, bool some_tasks);

// The exit status of COMMAND, if its end ended the recording; else 0: the recorder asked it to end.
int command_exit_status(const RecordOutcome& outcome);

// Events, bytes, what it cost, and what was lost on which CPU; `remedy` is what loses less.
void print_summary(const RecordOptions& options, const RecordOutcome& outcome, const WrittenTrace& written,
                   const char* remedy);

}  // namespace kmt
