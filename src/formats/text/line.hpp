// SPDX-License-Identifier: GPL-2.0-or-later
// A line of a trace that was printed as text: by the kernel (`trace`, `trace_pipe`), trace-cmd report or perf script.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/byte_reader.hpp"

namespace kmt::text {

struct Line {
  std::string_view comm;
  std::int32_t tid = -1;
  unsigned cpu = 0;
  bool has_cpu = true;       // else the line does not say it
  std::uint8_t context = 0;  // Context bits, where the line has irq-info
  std::uint64_t time = 0;    // nanoseconds, or ticks where there is no point in it
  bool time_in_ns = true;
  std::string_view system;  // "kmem"; empty: the line does not say it
  std::string_view event;   // "kmalloc"; empty: kmemtrace's tracer of 2009, which does not say it
  std::string_view fields;  // all that stands behind the name
};

// "  sh-148  (  148) [000] d..1.   5.906771683: kmalloc: call_site=…", and the other forms of docs/formats/text.md.
std::optional<Line> parse_line(std::string_view line);

// Whether a line that cannot be read was to be one of an event: it has its task and CPU, but no time behind them, or
// fields that only events have.
bool was_event(std::string_view line);

// "CPU:1 [LOST 123 EVENTS]" of trace_pipe, "CPU:1 [123 EVENTS DROPPED]" of trace-cmd; no count: not said.
struct LostLine {
  unsigned cpu = 0;
  std::optional<std::uint64_t> count;
};
std::optional<LostLine> parse_lost(std::string_view line);

// A number of decimal or, with 0x in front, of hexadecimal digits, maybe behind a minus; it has to be all of the text.
std::optional<std::uint64_t> parse_value(std::string_view text);

}  // namespace kmt::text
