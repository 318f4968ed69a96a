// SPDX-License-Identifier: GPL-2.0-or-later
// Reads constants of the kernel's configuration from the "print fmt:" line of an event's description. The text is
// untrusted, so the parser evaluates only numbers and limits the depth of expressions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "trace/gfp_flags.hpp"

namespace kmt {

// Returns the value of a C expression made of integer constants, casts, + - * << >> < > <= >= == & | ~ and ?:. Casts
// are ignored: all values have 64 bits. Returns nothing for other expressions.
std::optional<std::int64_t> constant_value(std::string_view expression);

// Returns pageblock_order from the print format of mm_page_alloc_extfrag (include/trace/events/kmem.h, Linux 6.18). An
// event with a smaller fallback_order fragments memory. Empty if the text does not contain this constant.
std::optional<unsigned> pageblock_order_of(std::string_view print_format);

// True if the kernel was built without memory control groups (CONFIG_MEMCG). `print_format` belongs to kmalloc, which
// prints "accounted=%s" with the argument "(0 && (REC->gfp_flags & …" in such a kernel (include/trace/events/kmem.h,
// Linux 6.1 to 7.2).
bool lacks_memcg(std::string_view print_format);

// Returns the flag names of a field that is printed by __print_flags(REC->FIELD, …). Empty if a flag is not a constant.
std::vector<FlagName> flag_names_of(std::string_view print_format, std::string_view field);

}  // namespace kmt
