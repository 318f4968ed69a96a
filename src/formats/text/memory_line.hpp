// SPDX-License-Identifier: GPL-2.0-or-later
// Decides whether a line is a memory event with all essential values.
#pragma once

#include <string_view>

#include "formats/text/line.hpp"
#include "trace/event.hpp"

namespace kmt::text {

// Returns the system of an event, even if the line has only the event's name.
std::string_view system_of(const Line& line);
// False if a memory event of this kind lacks its pointer or page, its sizes, or its order. True for all other events.
bool is_whole(EventKind kind, const Line& line);
bool is_whole_memory_event(const Line& line);
bool is_memory_event(const Line& line);

}  // namespace kmt::text
