// SPDX-License-Identifier: GPL-2.0-or-later
// Sizes, times and counts as people write and read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kmt {

// "64M", "512k", "1.5G", "4096": bytes, in powers of 1024 (an optional "B" or "iB" may follow). Throws Error.
std::uint64_t parse_size(std::string_view text);
// "10s", "1.5s", "200ms", "5m", "1h", "30us", "7ns"; a bare number means seconds. Nanoseconds. Throws Error.
std::uint64_t parse_duration(std::string_view text);

std::string humane_bytes(std::uint64_t bytes);           // "1.5 MiB", "312 B"
std::string humane_count(std::uint64_t count);           // "1,234,567"
std::string humane_duration(std::uint64_t nanoseconds);  // "1.250 s", "3.1 ms", "12 min 5 s"

}  // namespace kmt
