// SPDX-License-Identifier: GPL-2.0-or-later
// How a trace was recorded, and other notes of the recorder.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/state/sample.hpp"

namespace kmt {

// The kind of number that Event::address contains in a page event.
enum class PageIdentity : std::uint8_t {
  frame,  // page frame numbers, which show which pages are adjacent
  // Addresses of struct page (before Linux 4.1). They identify whole allocations, but not single pages.
  struct_page,
};

struct TraceRecording {
  std::vector<std::string> buffers;  // names of the ring buffers that contain events; "" is the top-level buffer
  PageIdentity page_identity = PageIdentity::frame;
  // Notes on the machine and the recording, by name; see docs/formats/kmt.md.
  std::map<std::string, std::string> notes;
  std::vector<StateSample> samples;  // sorted by time
};

}  // namespace kmt
