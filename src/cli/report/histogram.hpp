// SPDX-License-Identifier: GPL-2.0-or-later
// Prints sums that the kernel kept, for `report`: histograms (events/SYSTEM/EVENT/hist) and copies of /proc/allocinfo.
#pragma once

#include <cstddef>

#include "cli/input/trace_options.hpp"
#include "cli/support/options.hpp"

namespace kmt {

// Returns false if the file has no such sums. Throws Error if options that apply to events are given.
bool print_histograms(const Command& command, const TraceOptions& files, std::size_t limit,
                      const ResultOptions& result);

}  // namespace kmt
