// SPDX-License-Identifier: GPL-2.0-or-later
// Runs a recording from its start to the complete file, for `record` and `graph`.
#pragma once

#include <functional>
#include <string>

#include "capture/bpf/record/recorder.hpp"
#include "capture/session/recording.hpp"
#include "cli/record/messages.hpp"
#include "cli/record/output.hpp"
#include "cli/record/request.hpp"

namespace kmt {

struct RecordSteps {
  std::string preparation;        // text shown on a terminal before the first records; may be empty
  std::function<bool()> ended;    // called at least every 100 ms; the recording ends when it returns true
  std::function<void()> begins;   // called when the output file is open; may be empty
  std::function<void()> started;  // called immediately before the recording starts; may be empty
  std::function<RecordOutcome(const RecordHooks&, const OpenSink&)> record;
};

struct RecordedTrace {
  RecordOutcome outcome;  // also has the errors that occurred while the file was written
  WrittenTrace written;
};

// Handles SIGPIPE, because by default it would kill the recorder and lose the trace. A write to a closed pipe then
// returns an error.
void outlive_write_signals();

// Reports tracefs instances that killed runs left, and removes them if `remove` is true. Such instances use memory and
// slow down the machine.
void offer_to_remove_stale(const std::string& tracefs, bool remove);

// Records into `output` with a progress line, and completes the file. Throws Error.
RecordedTrace run_recording(const RecordOptions& options, RecordOutput& output, const RecordSteps& steps);

// Prints notes and warnings about a recording, but not its numbers.
void print_notes(const RecordOutcome& outcome);

}  // namespace kmt
