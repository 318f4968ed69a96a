// SPDX-License-Identifier: GPL-2.0-or-later
// The values that analyses of a trace need from /proc/slabinfo in its samples.
#pragma once

#include <optional>
#include <string_view>

namespace kmt {

struct SlabinfoLine {
  std::string_view name;
  double active = 0;        // objects; SLUB takes the free ones of the CPUs' slabs for active
  double object_bytes = 0;  // with padding and metadata
  double pages = 0;         // number of them
};

// "name active_objs num_objs objsize objperslab pagesperslab : tunables 3 numbers : slabdata active_slabs num_slabs
// sharedavail", version 2.1; a name may have blanks.
std::optional<SlabinfoLine> parse_slabinfo_line(std::string_view line);

}  // namespace kmt
