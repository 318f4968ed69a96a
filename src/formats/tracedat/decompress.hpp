// SPDX-License-Identifier: GPL-2.0-or-later
// Decompresses data of trace.dat version 7. The name of the algorithm is "zstd", "zlib" or "none".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/byte_reader.hpp"

namespace kmt {

// Throws Error if kmemtrace does not support the algorithm.
void check_compression(const std::string& algorithm);

// Decompresses `packed`. Throws Error if the data is damaged, or if the result does not have exactly `size` bytes. Also
// throws if `size` is above 256 MiB, or is above 1 MiB and more than 4096 times the packed size.
std::vector<std::uint8_t> decompress(const std::string& algorithm, Bytes packed, std::uint64_t size);

}  // namespace kmt
