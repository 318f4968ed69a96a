// SPDX-License-Identifier: GPL-2.0-or-later
// Everything that is true of a whole trace. A source fills the machine's part when it is opened; the tables, the
// lost events and the findings grow while its events are read and are complete after the last batch.
// Code that needs one part takes that part and includes its header.
#pragma once

#include <string>

#include "trace/imperfections.hpp"
#include "trace/info/calls.hpp"
#include "trace/info/clock.hpp"
#include "trace/info/code.hpp"
#include "trace/info/losses.hpp"
#include "trace/info/machine.hpp"
#include "trace/info/recording.hpp"
#include "trace/info/tables.hpp"
#include "trace/tasks/tasks.hpp"

namespace kmt {

struct TraceInfo {
  std::string path;
  std::string format;  // "trace.dat version 7"
  TraceMachine machine;
  TraceClock clock;
  TraceRecording recording;
  TraceTasks tasks;
  TraceCode code;
  TraceCalls calls;
  TraceTables tables;
  TraceLosses losses;
  Findings findings;
};

}  // namespace kmt
