// SPDX-License-Identifier: GPL-2.0-or-later
// Parses calendar times in UTC.
#pragma once

#include <cstdint>
#include <string>

namespace kmt {

// Parses "2026-11-21", "2026-11-21T12:13" or "2026-11-21T12:13:14". The text may end in Z. Returns seconds since 1970.
// Throws Error.
std::uint32_t parse_utc(const std::string& text);

}  // namespace kmt
