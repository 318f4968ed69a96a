// SPDX-License-Identifier: GPL-2.0-or-later
// Calls without a recorded depth. Their places on the stack show which call is inside which.
#pragma once

#include <cstdint>

#include "trace/event.hpp"

namespace kmt {

// In Event::page_flags of call_entry and call_exit, beside CallFlags: call_frame() is set, call_depth() means nothing.
constexpr std::uint8_t kCallHasFrame = 0x04;

constexpr bool has_call_frame(const Event& event) { return (event.page_flags & kCallHasFrame) != 0; }

// The lower half of the stack pointer: the same at both ends of a call, except for the words that the call itself
// pushes.
constexpr std::uint32_t call_frame(const Event& event) { return event.gfp_flags; }

constexpr void set_call_frame(Event& event, std::uint64_t stack_pointer) {
  event.gfp_flags = static_cast<std::uint32_t>(stack_pointer);
  event.page_flags |= kCallHasFrame;
}

}  // namespace kmt
