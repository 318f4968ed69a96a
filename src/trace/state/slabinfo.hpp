// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string_view>
#include <vector>

#include "trace/state/kernel_memory.hpp"

namespace kmt {

struct Slabinfo {
  std::vector<SlabInfo> caches;
  std::vector<std::string_view> unknown;  // lines in an unknown format; they point into the text
};

// Parses the text of /proc/slabinfo. The header line contains the names of the columns. If there is no header, the
// columns of version 2.1 are assumed.
Slabinfo parse_slabinfo(std::string_view text);

}  // namespace kmt
