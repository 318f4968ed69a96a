// SPDX-License-Identifier: GPL-2.0-or-later
// The compression of trace.dat version 7: "zstd", "zlib", or "none".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/byte_reader.hpp"

namespace kmt {

// Throws Error for an algorithm that this build does not know.
void check_compression(const std::string& algorithm);

// Returns exactly `size` bytes from `packed`. Throws Error if the data is damaged, has another size, or `size` is out
// of proportion (above 256 MiB, or more than 4096 times the packed size and above 1 MiB).
std::vector<std::uint8_t> decompress(const std::string& algorithm, Bytes packed, std::uint64_t size);

}  // namespace kmt
