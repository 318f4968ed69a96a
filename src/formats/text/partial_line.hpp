// SPDX-License-Identifier: GPL-2.0-or-later
// Parses lines that lack a part of the task, CPU and time, or have these parts in a rare order.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "formats/text/line.hpp"

namespace kmt::text {

// Parses the latency format with the option `verbose`:
// "  bash   812   0 1 00000000 00000000 [00075bc5] 123.456ms (+0.004ms): kmalloc: …".
std::optional<Line> parse_verbose(std::string_view text);

// Parses a whole memory event after any part of "TASK PID/TID [CPU] TIME: PERIOD". ftrace's option nocontext-info
// prints none of these fields, and `perf script -F` prints those that the user selects.
std::optional<Line> parse_partial(std::string_view text);

// Parses a line of `perf trace`. `fields` receives the fields in the form "key=value"; the result refers to it.
// "  0.052 ( 0.011 ms): sh/812 kmem:kmalloc(call_site: -2124952363, ptr: 0xffff888145c44000, bytes_req: 64, …)".
std::optional<Line> parse_perf_trace(std::string_view text, std::string& fields);

}  // namespace kmt::text
