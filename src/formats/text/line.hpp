// SPDX-License-Identifier: GPL-2.0-or-later
// Parses a line of a text trace. The text may be from the kernel (`trace`, `trace_pipe`), trace-cmd report or perf
// script.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/byte_reader.hpp"

namespace kmt::text {

struct Line {
  std::string_view buffer;  // name of the buffer (instance); empty for the top-level buffer
  std::string_view comm;
  std::int32_t tid = -1;
  unsigned cpu = 0;
  bool has_cpu = true;       // false if the line has no CPU
  std::uint8_t context = 0;  // context bits from irq-info; 0 if the line has none
  bool has_time = true;      // false if the line has no time
  std::uint64_t time = 0;    // in nanoseconds, or in ticks if the time has no decimal point
  bool time_in_ns = true;
  std::string_view system;    // for example "kmem"; empty if the line does not have it
  std::string_view event;     // for example "kmalloc"; empty for kmemtrace's tracer of 2009
  std::string_view fields;    // all text after the event's name
  bool has_end_mark = false;  // true if a mark such as ")" shows that the last field is whole
};

constexpr std::string_view kRepeatsEvent = "func_repeats";  // the kernel's name for a line "f <-caller (repeats: 5, …)"
constexpr std::string_view kUnknownName = "<...>";  // the kernel prints this for a task whose name it does not know
// Parses a line such as "  sh-148  (  148) [000] d..1.   5.906771683: kmalloc: call_site=…", or another form in
// docs/formats/text.md.
std::optional<Line> parse_line(std::string_view line);

// True if the line has neither the name of its task nor a CPU, or has the ID of a task without its name. False for
// lines of perf trace, which may omit the task.
inline bool is_nameless(const Line& line) {
  return line.comm.empty() && (line.tid >= 0 || !line.has_cpu) && !line.has_end_mark;
}

// The start of any entry of ftrace: a task, a CPU and a time. Text that is no event may follow, as in "<stack trace>".
struct EntryStart {
  unsigned cpu = 0;
};
std::optional<EntryStart> parse_entry(std::string_view line);

// True if an unreadable line was probably an event. Such a line has a task and CPU but no time, or it has fields that
// only events have.
bool was_event(std::string_view line);

// A line such as "CPU:1 [LOST 123 EVENTS]" from trace_pipe, or "CPU:1 [123 EVENTS DROPPED]" from trace-cmd. The count
// may be missing. With several buffers, trace-cmd prints "NAME: " first. perf script prints "sh 812 [001] 5.906771:
// PERF_RECORD_LOST lost 123", and the kernel's log
// "** 123 printk messages dropped **".
struct LostLine {
  unsigned cpu = 0;
  std::optional<std::uint64_t> count;
  // True for PERF_RECORD_LOST_SAMPLES, which perf writes at the end of a recording. The count includes the losses that
  // earlier lines report.
  bool is_sum = false;
  std::string_view buffer = {};
};
std::optional<LostLine> parse_lost(std::string_view line);

constexpr unsigned kMostCpus = 8192;  // larger CPU numbers are damage

// The following functions parse parts of lines, and return false if the text is something else.
// Parses "sh-148" or "sh-148  (  148)", and perf's "sh   148" or "sh  148/149".
bool parse_task(std::string_view text, Line& line);
// Parses irq-info such as "d.h2.".
bool parse_irq_info(std::string_view word, Line& line);
// Parses "5.906771683", "5.906771", or "12345" for ticks.
bool parse_clock(std::string_view word, Line& line);
// Parses text like "kmalloc: call_site=…", or "f <-caller" of the function tracer. For text of kmemtrace's tracer of
// 2009, which printed no event names, `event` stays empty.
bool parse_event(std::string_view text, Line& line);

// True if the text is not empty and has only letters, digits and underscores.
bool is_word(std::string_view text);

// Parses a decimal number, or a hexadecimal number with 0x. Decimal numbers may be negative. The whole text must be the
// number.
std::optional<std::uint64_t> parse_value(std::string_view text);

}  // namespace kmt::text
