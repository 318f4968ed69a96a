// SPDX-License-Identifier: GPL-2.0-or-later
// The option `report --style perf-kmem` and the options that it takes over from `perf kmem`.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/support/options.hpp"
#include "views/text/perf_kmem.hpp"

namespace kmt {

struct PerfKmemFlags {
  std::string style;
  bool caller = false;
  bool alloc = false;
  bool slab = false;
  bool page = false;
  bool live = false;
  bool raw_ip = false;
  std::vector<std::size_t> lines;
};

// Adds the options of perf kmem. `options` must outlive the command.
void add_perf_kmem_options(Command& command, PerfKmemFlags& options);

// Returns the options of the style perf-kmem. Returns nothing if another style was requested. Throws Error if options
// conflict.
std::optional<PerfKmemOptions> perf_kmem_options(const Command& command, const PerfKmemFlags& options,
                                                 std::size_t limit);

}  // namespace kmt
