// SPDX-License-Identifier: GPL-2.0-or-later
// Converts sizes, times and counts to and from readable text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kmt {

// Returns bytes for "64M", "512k", "1.5G" or "4096". Units are powers of 1024; "B" or "iB" may follow. Throws Error.
std::uint64_t parse_size(std::string_view text);
// Returns nanoseconds for "10s", "1.5s", "200ms", "5m", "1h", "30us" or "7ns". A number without a unit is in seconds.
// Throws Error.
std::uint64_t parse_duration(std::string_view text);

std::string humane_bytes(std::uint64_t bytes);           // returns a text such as "1.5 MiB" or "312 B"
std::string humane_count(std::uint64_t count);           // "1,234,567"
std::string humane_duration(std::uint64_t nanoseconds);  // returns a text such as "1.250 s", "3.1 ms" or "12 min 5 s"

}  // namespace kmt
