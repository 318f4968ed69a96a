// SPDX-License-Identifier: GPL-2.0-or-later
// What the "print fmt:" line of an event's description tells of the kernel's configuration: constants that its records
// do not hold. The text is untrusted; it is never evaluated deeper than a bound, and nothing but numbers is understood.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "trace/gfp_flags.hpp"

namespace kmt {

// The value of a C expression of integer constants, casts, + - * << >> < > <= >= == & | ~ and ?:, in 64 bits whatever
// the casts say. Empty for everything else.
std::optional<std::int64_t> constant_value(std::string_view expression);

// pageblock_order as mm_page_alloc_extfrag prints it (include/trace/events/kmem.h, Linux 6.18): the orders below which
// a fallback fragments memory. Empty where it is no constant of the kernel, or the text has none.
std::optional<unsigned> pageblock_order_of(std::string_view print_format);

// The names of the flags of a field that is printed by __print_flags(REC->FIELD, …). Empty where one is no constant.
std::vector<FlagName> flag_names_of(std::string_view print_format, std::string_view field);

}  // namespace kmt
