// SPDX-License-Identifier: GPL-2.0-or-later
// Stores a page census as the text "census" of a snapshot. docs/formats/kmt.md describes the text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "results/snapshot/page_census.hpp"

namespace kmt {

// Returns the counts of a census, without the comparison with counters.
std::string census_text(const PageCensus& census);
// Returns nothing if the text is damaged: a line cannot be parsed, or the end is missing.
std::optional<PageCensus> census_of(std::string_view text);

}  // namespace kmt
