// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kmt {

// All of a small file that may be compressed with gzip, as /proc/config.gz; empty optional when it cannot be read.
std::optional<std::string> try_read_gzip(const std::string& path);
// A gzip file of the text, as pprof wants it. Throws Error.
std::string gzip(std::string_view text);

}  // namespace kmt
