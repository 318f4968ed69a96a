// SPDX-License-Identifier: GPL-2.0-or-later
// Implements `convert --anonymise` for a file with one snapshot or a series of snapshots.
#pragma once

#include <string>
#include <vector>

#include "anonymise/pseudonyms.hpp"

namespace kmt {

// Writes anonymised snapshots into a .kmt file. Returns the names of the parts that were dropped. Throws Error.
std::vector<std::string> anonymise_snapshots(const std::string& input, const std::string& output,
                                             const PseudonymKey& key);

}  // namespace kmt
