// SPDX-License-Identifier: GPL-2.0-or-later
// Times of the calendar, UTC.
#pragma once

#include <cstdint>
#include <string>

namespace kmt {

// "2026-11-21", "2026-11-21T12:13", "2026-11-21T12:13:14" with or without a Z: seconds since 1970. Throws Error.
std::uint32_t parse_utc(const std::string& text);

}  // namespace kmt
