// SPDX-License-Identifier: GPL-2.0-or-later
// All information about a trace. A source sets `machine` when it is opened. The tables, losses and findings grow while
// events are read, and are complete after the last batch. Code that needs only one member should include that member's
// header.
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
  std::string format;  // name of the trace format, such as "trace.dat version 7"
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
