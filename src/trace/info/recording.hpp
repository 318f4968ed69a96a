// SPDX-License-Identifier: GPL-2.0-or-later
// How a trace was recorded, and other notes of the recorder.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/state/sample.hpp"

namespace kmt {

// The meaning of Event::address in a page event.
enum class PageIdentity : std::uint8_t {
  frame,        // page frame numbers, which show adjacent pages
  struct_page,  // addresses of struct page (before Linux 4.1), which only identify whole allocations
};

struct TraceRecording {
  std::vector<std::string> buffers;  // names of the ring buffers in use; "" is the top-level buffer
  PageIdentity page_identity = PageIdentity::frame;
  std::map<std::string, std::string> notes;  // notes on the machine and the recording: docs/formats/kmt.md
  std::vector<StateSample> samples;          // by time
};

}  // namespace kmt
