// SPDX-License-Identifier: GPL-2.0-or-later
// Decompresses data of trace.dat version 7. Algorithms are "zstd", "zlib", or "none".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/byte_reader.hpp"

namespace kmt {

// Throws Error if this build does not support the algorithm.
void check_compression(const std::string& algorithm);

// Decompresses `packed` to exactly `size` bytes. Throws Error if the data is damaged or has another size. Also throws
// if `size` is above 256 MiB, or is above 1 MiB and more than 4096 times the packed size.
std::vector<std::uint8_t> decompress(const std::string& algorithm, Bytes packed, std::uint64_t size);

}  // namespace kmt
