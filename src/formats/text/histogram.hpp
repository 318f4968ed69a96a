// SPDX-License-Identifier: GPL-2.0-or-later
// Reads text from the kernel's files events/SYSTEM/EVENT/hist.
#pragma once

#include <vector>

#include "base/byte_reader.hpp"
#include "trace/histogram.hpp"

namespace kmt::text {

// True if a line near the start describes a histogram's trigger or is one of its rows.
bool is_histogram(Bytes bytes);
// Reads the histograms in a file, which has one for each trigger of the event.
std::vector<Histogram> read_histograms(Bytes bytes);

}  // namespace kmt::text
