// SPDX-License-Identifier: GPL-2.0-or-later
// Parses lines of the function_graph tracer (kernel/trace/trace_functions_graph.c, Linux 2.6.29 to 6.18), such as
// " 1)  sh-812  | + 12.750 us   |    anvil_lock();". Each option of the tracer adds or removes a column.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/text/line.hpp"

namespace kmt::text {

enum class CallPart : std::uint8_t {
  entry,    // "f() {"
  exit,     // "}"
  leaf,     // a call without recorded calls in it, such as "f();"
  comment,  // an event inside a call, such as "/* kmalloc: call_site=… */"
};

struct CallLine {
  Line line;  // task, CPU, context and time; `event` and `fields` only for a comment with an event
  CallPart part = CallPart::entry;
  bool has_task = false;
  bool has_time = false;
  std::optional<unsigned> depth;  // number of calls around this call; empty if the line has lost its indentation
  // "f", "f [module]" or an address such as "0xffffffff81234567"; empty for the exit of an unknown function
  std::string_view function;
  std::string_view arguments;     // "fd=3, count=0x1000"; empty if not printed
  std::string_view return_value;  // "-14" or "0xffff88810557a000"; empty if not printed
  std::optional<std::uint64_t> duration_ns;
};
// Returns the time of the line, or for a leaf, the time at which the call ends.
std::uint64_t end_of(const CallLine& call);
std::optional<CallLine> parse_call_line(std::string_view text);
// Parses a line that has no columns, such as "  f();". Source code has such lines, too.
std::optional<CallLine> parse_bare_call_line(std::string_view text);
// True if an unreadable line of the function_graph tracer was probably a call. Such a line has text after its last
// column, or it ends after the CPU or the duration.
bool was_call(std::string_view text);
// Returns where the second of two calls starts in a line that lacks a line break. Empty if the line does not have two.
std::optional<std::size_t> start_of_second_call(std::string_view text);
// Returns the line without a word that a log or a pager printed before it, such as "trace:" or "12". Empty if there is
// no such word.
std::string_view without_prefix_word(std::string_view text);
// True if the event is the start or end of a call.
bool is_call_event(const Line& line);
// Parses the text after the event's name: "funcgraph_entry:   0.412 us   |  path_start();" from trace-cmd report,
// "funcgraph_entry: func=0xffffffff81234567 depth=2" from trace-cmd report -R, or "funcgraph_entry: --> path_start (2)"
// from programs that use the kernel's print format. Returns nothing if the event is something else or unreadable.
std::optional<CallLine> parse_call_event(const Line& line);

// The start or end of an interrupt, such as " 0)   ==========> |".
struct InterruptLine {
  unsigned cpu = 0;
  std::int32_t tid = -1;  // the interrupted task, if the line has no CPU
  bool begins = false;
};
std::optional<InterruptLine> parse_interrupt_line(std::string_view text);

// A CPU switches from one task to another: " 1)     sh-812     =>   kworker-77".
struct SwitchLine {
  Line from, to;  // task and CPU
};
std::optional<SwitchLine> parse_switch_line(std::string_view text);

}  // namespace kmt::text
