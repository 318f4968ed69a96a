// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/byte_reader.hpp"

namespace kmt {

// Reads a small file that may be compressed with gzip, such as /proc/config.gz. Returns nothing if it cannot be read.
std::optional<std::string> try_read_gzip(const std::string& path);
bool is_gzip(Bytes bytes);
// Unpacks a gzip file up to the place where it is cut off or damaged. Returns at most `most` bytes.
std::string intact_part_of_gzip(Bytes bytes, std::size_t most);
// Compresses the text to the contents of a gzip file, as pprof requires. Throws Error.
std::string gzip(std::string_view text);

}  // namespace kmt
