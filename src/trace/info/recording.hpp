// SPDX-License-Identifier: GPL-2.0-or-later
// How a trace was recorded, and what the recorder noted beside the events.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/state/sample.hpp"

namespace kmt {

// The meaning of Event::address in a page event.
enum class PageIdentity : std::uint8_t {
  frame,        // page frame numbers: neighbours are known
  struct_page,  // addresses of struct page (before Linux 4.1): whole allocations only
};

struct TraceRecording {
  std::vector<std::string> buffers;  // that are read; "" is the top one
  PageIdentity page_identity = PageIdentity::frame;
  std::map<std::string, std::string> notes;  // of the machine and the recording: docs/formats/kmt.md
  std::vector<StateSample> samples;          // by time
};

}  // namespace kmt
