// SPDX-License-Identifier: GPL-2.0-or-later
// Where events come from. A source knows nothing of analyses.
#pragma once

#include "trace/event.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

class Source {
 public:
  virtual ~Source() = default;

  // Complete after read() has returned false.
  virtual const TraceInfo& info() const = 0;
  // For another source that stands before this one, and adds to the tables what its events need.
  virtual TraceInfo& info() = 0;
  // Replaces the batch by the next events, ordered by time over all CPUs (at equal times by CPU, within a CPU by their
  // place in the buffer). False at the end. Damage is a finding in info(), not an exception.
  virtual bool read(EventBatch& batch) = 0;
  // How much of the input has been read, from 0 to 1, for progress.
  virtual double progress() const = 0;
};

}  // namespace kmt
