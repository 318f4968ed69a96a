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

  // Shows a step before the recording: "Attaching to 71 functions".
  void show(std::string_view preparation);
  // `written` is the number of bytes of the trace so far.
  void update(const RecordProgress& progress, std::uint64_t written);
  void clear();

 private:
  bool wanted_;
  bool is_shown_ = false;
  double shown_at_ = 0;
  double cpu_seconds_ = 0;
  std::uint64_t seen_ = 0;  // recorded and lost events
};

// Facts about the written file or files.
struct WrittenTrace {
  std::string path;         // path of the only or last file; empty for a temporary file
  std::uint64_t bytes = 0;  // of it
  unsigned files = 1;
  unsigned files_removed = 0;
  std::optional<std::uint64_t> events;  // events in the file of a flight recorder, which keeps only the latest
};

// Reports that the trace instance could not be removed.
void say_left_open(const std::string& instance);

// Returns the message about missed events. An empty `function` means any function. `some_tasks` is true if only some
// tasks are recorded.
std::string missed_line(const std::string& function, std::uint64_t count, bool some_tasks);

// Returns the exit status of COMMAND if its end ended the recording. Otherwise returns 0, because the recorder asked
// COMMAND to end.
int command_exit_status(const RecordOutcome& outcome);

// Prints the number of events, bytes, the cost, and losses by CPU. `remedy` is the advice for losing fewer events.
void print_summary(const RecordOptions& options, const RecordOutcome& outcome, const WrittenTrace& written,
                   const char* remedy);

}  // namespace kmt
