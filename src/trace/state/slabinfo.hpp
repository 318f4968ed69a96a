// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string_view>
#include <vector>

#include "trace/state/kernel_memory.hpp"

namespace kmt {

struct Slabinfo {
  std::vector<SlabInfo> caches;
  std::vector<std::string_view> unknown;  // lines in an unknown format; borrowed from the text
};

// Parses the text of /proc/slabinfo. Its header line names the columns. A text without header has the columns of
// version 2.1.
Slabinfo parse_slabinfo(std::string_view text);

}  // namespace kmt
