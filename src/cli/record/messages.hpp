// SPDX-License-Identifier: GPL-2.0-or-later
// Prints messages of `record` on stderr during and after the recording.
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

  // Shows what is done before the recording starts, for example "Attaching to 71 functions".
  void show(std::string_view preparation);
  // Updates the progress line. `written` is the number of bytes of the trace written so far.
  void update(const RecordProgress& progress, std::uint64_t written);
  void clear();

 private:
  bool wanted_;
  bool is_shown_ = false;
  double shown_at_ = 0;
  double cpu_seconds_ = 0;
  std::uint64_t seen_ = 0;  // number of recorded and lost events at the last update
};

// Facts about the file or files that were written.
struct WrittenTrace {
  std::string path;         // path of the only or the last file; empty for a temporary file
  std::uint64_t bytes = 0;  // size of this file
  unsigned files = 1;
  unsigned files_removed = 0;
  // number of events in the file of a flight recorder, which keeps only the latest events
  std::optional<std::uint64_t> events;
};

// Reports that the tracefs instance of the recording could not be removed.
void say_left_open(const std::string& instance);

// Returns the message about events that the kernel could not record. An empty `function` stands for any function.
// `some_tasks` is true if only some tasks are recorded.
std::string missed_line(const std::string& function, std::uint64_t count, bool some_tasks);

// Returns the exit status of COMMAND if its end also ended the recording. Otherwise returns 0, because the recorder
// itself asked COMMAND to end.
int command_exit_status(const RecordOutcome& outcome);

// Prints the number of events and bytes, the CPU time of the recorder, and the lost events by CPU. `remedy` is advice
// for losing fewer events.
void print_summary(const RecordOptions& options, const RecordOutcome& outcome, const WrittenTrace& written,
                   const char* remedy);

}  // namespace kmt
