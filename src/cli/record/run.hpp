// SPDX-License-Identifier: GPL-2.0-or-later
// A recording from its begin to the file that it leaves, as `record` and `graph` make one.
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
  std::string preparation;        // said on a terminal until there are records; may be empty
  std::function<bool()> ended;    // asked every 100 ms or more often
  std::function<void()> begins;   // the output is open; may be empty
  std::function<void()> started;  // what happens from now on is recorded; may be empty
  std::function<RecordOutcome(const RecordHooks&, const OpenSink&)> record;
};

struct RecordedTrace {
  RecordOutcome outcome;  // with what a file could not be written for, as well
  WrittenTrace written;
};

// That nobody reads a message, or a file size limit, must not cost the trace: both become errors of the write.
void outlive_write_signals();

// Instances of killed runs hold memory and slow the machine down: said, and removed when wanted.
void offer_to_remove_stale(const std::string& tracefs, bool remove);

// Records into `output`, with a progress line, and ends what was written. Throws Error.
RecordedTrace run_recording(const RecordOptions& options, RecordOutput& output, const RecordSteps& steps);

// Says what there is to know of a recording beside its numbers.
void print_notes(const RecordOutcome& outcome);

}  // namespace kmt
