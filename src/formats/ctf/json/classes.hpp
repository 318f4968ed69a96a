// SPDX-License-Identifier: GPL-2.0-or-later
// Converts the event and stream classes of a CTF 2 trace to objects of libbabeltrace2.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include <babeltrace2/babeltrace.h>

#include "formats/ctf/json/metadata.hpp"

namespace kmt::ctf {

template <typename T, void (*put)(const T*)>
struct PutObject {
  void operator()(const T* object) const { put(object); }
};
using TraceRef = std::unique_ptr<bt_trace, PutObject<bt_trace, bt_trace_put_ref>>;

struct StreamClassObjects {
  const JsonStreamClass* description = nullptr;
  bt_stream_class* stream_class = nullptr;            // owned by the trace class
  std::map<std::uint64_t, bt_event_class*> events{};  // by ID; owned by the stream class
  bool has_begin_time = false, has_end_time = false;
};

struct TraceObjects {
  TraceRef trace;
  std::map<std::uint64_t, StreamClassObjects> streams;  // by ID
};

// Makes the objects of libbabeltrace2 for a trace. `metadata` must outlive the result.
TraceObjects make_trace(const JsonMetadata& metadata, bt_self_component* component);

}  // namespace kmt::ctf
