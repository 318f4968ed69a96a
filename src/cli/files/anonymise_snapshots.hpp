// SPDX-License-Identifier: GPL-2.0-or-later
// `convert --anonymise` of a snapshot, or of a series.
#pragma once

#include <string>
#include <vector>

#include "anonymise/pseudonyms.hpp"

namespace kmt {

// Writes them into a .kmt, and returns the names of dropped parts. Throws Error.
std::vector<std::string> anonymise_snapshots(const std::string& input, const std::string& output,
                                             const PseudonymKey& key);

}  // namespace kmt
