// SPDX-License-Identifier: GPL-2.0-or-later
// Writes histograms of the kernel as tables, with one row for each key.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "trace/histogram.hpp"
#include "views/text/style.hpp"

namespace kmt {

// Shows at most `limit` rows of each histogram; 0: all.
std::string text_histograms(const std::string& path, const std::vector<Histogram>& histograms, std::size_t limit,
                            const TextStyle& style);

}  // namespace kmt
