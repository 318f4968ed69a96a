// SPDX-License-Identifier: GPL-2.0-or-later
// A recording from its start to its file, for `record` and `graph`.
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
  std::string preparation;        // shown on a terminal until there are records; may be empty
  std::function<bool()> ended;    // called at least every 100 ms
  std::function<void()> begins;   // the output is open; may be empty
  std::function<void()> started;  // called right before the recording starts; may be empty
  std::function<RecordOutcome(const RecordHooks&, const OpenSink&)> record;
};

struct RecordedTrace {
  RecordOutcome outcome;  // with errors of writing a file as well
  WrittenTrace written;
};

// A message without a reader, or a file size limit, must not cost the trace: both become errors of the write.
void outlive_write_signals();

// Reports instances of killed runs, which hold memory and slow down the machine, and removes them on request.
void offer_to_remove_stale(const std::string& tracefs, bool remove);

// Records into `output`, with a progress line, and completes the file. Throws Error.
RecordedTrace run_recording(const RecordOptions& options, RecordOutput& output, const RecordSteps& steps);

// Prints notes about a recording except its numbers.
void print_notes(const RecordOutcome& outcome);

}  // namespace kmt
