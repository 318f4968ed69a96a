// SPDX-License-Identifier: GPL-2.0-or-later
// Writes histograms of the kernel as JSON (docs/formats/histogram-json.md).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "trace/histogram.hpp"

namespace kmt {

// Shows at most `limit` rows of each histogram; 0: all.
std::string json_histograms(const std::string& path, const std::vector<Histogram>& histograms, std::size_t limit);

}  // namespace kmt
