// SPDX-License-Identifier: GPL-2.0-or-later
// A source of events, such as the reader of a trace format. Sources do not depend on analyses.
#pragma once

#include "trace/event.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

class Source {
 public:
  virtual ~Source() = default;

  // Returns the information about the trace. It is complete after read() has returned false.
  virtual const TraceInfo& info() const = 0;
  // Returns the same information, to be modified by sources that wrap this source and add entries to the tables.
  virtual TraceInfo& info() = 0;
  // Replaces the events in the batch by the next events. Returns false at the end. Events are ordered by time over all
  // CPUs. Events at equal times are ordered by CPU, and within a CPU by their place in the buffer. Damage is reported
  // as a finding in info(), not as an exception.
  virtual bool read(EventBatch& batch) = 0;
  // Returns the share of the input that has been read, from 0 to 1, to show progress.
  virtual double progress() const = 0;
};

}  // namespace kmt
