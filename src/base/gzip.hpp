// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <optional>
#include <string>

namespace kmt {

// All of a small file that may be compressed with gzip, as /proc/config.gz; empty optional when it cannot be read.
std::optional<std::string> try_read_gzip(const std::string& path);

}  // namespace kmt
