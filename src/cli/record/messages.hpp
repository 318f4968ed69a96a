// SPDX-License-Identifier: GPL-2.0-or-later
// Messages of `record` on stderr during and after the recording.
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

  // A step before the recording: "Attaching to 71 functions".
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

// The written file.
struct WrittenTrace {
  std::string path;         // the only or the last file; empty: a temporary one
  std::uint64_t bytes = 0;  // of it
  unsigned files = 1;
  unsigned files_removed = 0;
  std::optional<std::uint64_t> events;  // of a flight recorder's file: not all that were recorded
};

// Reports that an instance could not be removed.
void say_left_open(const std::string& instance);

// Returns the message about missed events. `function` "": of any; `some_tasks`: only some are recorded.
std::string missed_line(const std::string& function, std::uint64_t count, bool some_tasks);

// The exit status of COMMAND, if its end ended the recording; else 0: the recorder asked it to end.
int command_exit_status(const RecordOutcome& outcome);

// Prints events, bytes, cost, and losses by CPU; `remedy` is advice for losing less.
void print_summary(const RecordOptions& options, const RecordOutcome& outcome, const WrittenTrace& written,
                   const char* remedy);

}  // namespace kmt
