// SPDX-License-Identifier: GPL-2.0-or-later
// Takes the pages of ring buffers while they are recorded: the way from capture to a format.
#pragma once

#include "base/byte_reader.hpp"

namespace kmt {

class PageSink {
 public:
  virtual ~PageSink() = default;
  // Whole pages of a CPU in their order, or none when the CPU has been quiet for a while. Each CPU has one thread that
  // calls it, different CPUs call at the same time. Throws Error when recording cannot go on; even then it keeps the
  // pages that it was given.
  virtual void pages(unsigned cpu, Bytes pages) = 0;
};

}  // namespace kmt
