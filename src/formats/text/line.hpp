// SPDX-License-Identifier: GPL-2.0-or-later
// A line of a trace as text: from the kernel (`trace`, `trace_pipe`), trace-cmd report or perf script.
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
  bool has_cpu = true;       // false: the line has no CPU
  std::uint8_t context = 0;  // context bits, if the line has irq-info
  std::uint64_t time = 0;    // nanoseconds, or ticks if it has no decimal point
  bool time_in_ns = true;
  std::string_view system;  // "kmem"; empty: not in the line
  std::string_view event;   // "kmalloc"; empty: not in the line (kmemtrace's tracer of 2009)
  std::string_view fields;  // all text after the name
};

// "  sh-148  (  148) [000] d..1.   5.906771683: kmalloc: call_site=…", and the other forms of docs/formats/text.md.
std::optional<Line> parse_line(std::string_view line);

// True if an unreadable line was probably an event: it has a task and CPU without a time, or fields that only events
// have.
bool was_event(std::string_view line);

// "CPU:1 [LOST 123 EVENTS]" of trace_pipe, "CPU:1 [123 EVENTS DROPPED]" of trace-cmd; the count may be missing.
struct LostLine {
  unsigned cpu = 0;
  std::optional<std::uint64_t> count;
};
std::optional<LostLine> parse_lost(std::string_view line);

// Parses a decimal number, or a hexadecimal one with 0x, with an optional minus. It must be the whole text.
std::optional<std::uint64_t> parse_value(std::string_view text);

}  // namespace kmt::text
