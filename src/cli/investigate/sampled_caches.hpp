// SPDX-License-Identifier: GPL-2.0-or-later
// Stores the kinds of objects that an investigation found in slab caches, so that `investigate --from` shows them.
#pragma once

#include <string>
#include <vector>

#include "results/growth/investigation.hpp"

namespace kmt {

inline constexpr const char* kObjectsFile = "objects.json";

// Returns the kinds of objects as JSON, for the caches that were sampled. Returns an empty text if there are none.
std::string json_sampled_caches(const std::vector<LargeCache>& caches);
// Reads a file with the text of json_sampled_caches(), and sets the kinds of the caches that are in the file. Throws
// Error if the file has another format.
void read_sampled_caches(const std::string& path, std::vector<LargeCache>& caches);

}  // namespace kmt
