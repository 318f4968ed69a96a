// SPDX-License-Identifier: GPL-2.0-or-later
// An event of kind call_entry or call_exit. It occupies the memory of an Event and shares the common fields: time,
// task, CPU, type, kind, context and stack.
#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "trace/event.hpp"

namespace kmt {

// Flags that show which fields of a CallEvent are set.
struct CallFlags {
  static constexpr std::uint8_t kDuration = 0x01;
  static constexpr std::uint8_t kReturnValue = 0x02;
  static constexpr std::uint8_t kFrame = 0x04;  // the member `frame` is set, and `depth` is not
};
// Largest value of `depth`; deeper calls also have this value. Kernels keep at most 50 calls per task
// (FTRACE_RETFUNC_DEPTH, Linux 6.1).
constexpr std::uint8_t kMostCallDepth = 255;

struct CallEvent {
  std::uint64_t time_ns;
  std::uint64_t function;      // address of the function
  std::uint64_t return_value;  // for call_exit: the return register, as wide as the kernel's words
  std::uint64_t duration_ns;   // for call_exit: duration in nanoseconds, even if the trace's clock counts other units
  // Number of the call's record in TraceCalls::records; 0: none. The record contains arguments or, for call_exit,
  // values that were read at the exit.
  std::uint64_t record;
  CallSiteId call_site;  // always 0, "none"
  std::int32_t tid;
  // Lower 32 bits of the stack pointer, which identify the frame of a call. They are equal at entry and exit, except on
  // x86: there, the return address is on the stack only at the entry.
  std::uint32_t frame;
  std::uint16_t cpu;
  EventTypeId type;
  EventKind kind;
  std::uint8_t context;
  std::uint8_t depth;  // number of traced calls of the task that surround this call
  std::uint8_t flags;  // CallFlags
  StackId stack;

  bool has(std::uint8_t flag) const { return (flags & flag) != 0; }
};
static_assert(sizeof(CallEvent) == sizeof(Event) && std::is_trivially_copyable_v<CallEvent>);
static_assert(offsetof(CallEvent, time_ns) == offsetof(Event, time_ns) &&
              offsetof(CallEvent, function) == offsetof(Event, address) &&
              offsetof(CallEvent, call_site) == offsetof(Event, call_site) &&
              offsetof(CallEvent, tid) == offsetof(Event, tid) && offsetof(CallEvent, cpu) == offsetof(Event, cpu) &&
              offsetof(CallEvent, type) == offsetof(Event, type) &&
              offsetof(CallEvent, kind) == offsetof(Event, kind) &&
              offsetof(CallEvent, context) == offsetof(Event, context) &&
              offsetof(CallEvent, stack) == offsetof(Event, stack));

inline CallEvent as_call(const Event& event) {
  assert(is_call(event.kind));
  return std::bit_cast<CallEvent>(event);
}
inline Event as_event(const CallEvent& call) { return std::bit_cast<Event>(call); }

}  // namespace kmt
