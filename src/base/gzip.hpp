// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kmt {

// Reads a small file that may be compressed with gzip, such as /proc/config.gz. Returns nothing if it cannot be read.
std::optional<std::string> try_read_gzip(const std::string& path);
// Compresses the text to the contents of a gzip file, as pprof requires. Throws Error.
std::string gzip(std::string_view text);

}  // namespace kmt
