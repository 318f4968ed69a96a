// SPDX-License-Identifier: GPL-2.0-or-later
// Constants of the kernel's configuration, from the "print fmt:" line of an event's description. The text is untrusted:
// only numbers are understood, and evaluation depth is bounded.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "trace/gfp_flags.hpp"

namespace kmt {

// Returns the value of a C expression of integer constants, casts, + - * << >> < > <= >= == & | ~ and ?:, in 64 bits
// whatever the casts. Empty for everything else.
std::optional<std::int64_t> constant_value(std::string_view expression);

// Returns pageblock_order as mm_page_alloc_extfrag prints it (include/trace/events/kmem.h, Linux 6.18). A fallback at a
// smaller order fragments memory. Empty if it is not a constant, or not in the text.
std::optional<unsigned> pageblock_order_of(std::string_view print_format);

// Returns the flag names of a field printed by __print_flags(REC->FIELD, …). Empty if one is not a constant.
std::vector<FlagName> flag_names_of(std::string_view print_format, std::string_view field);

}  // namespace kmt
