// SPDX-License-Identifier: GPL-2.0-or-later
// Stores the kinds of objects that an investigation found in slab caches, so that `investigate --from` shows them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/growth/investigation.hpp"

namespace kmt {

inline constexpr const char* kObjectsFile = "objects.json";

// Returns the kinds of objects as JSON, for the caches that were sampled, and which objects could not be read. Returns
// an empty text if there are no caches.
std::string json_sampled_caches(const std::vector<LargeCache>& caches, const std::optional<UnseenSource>& unread);
// Reads a file with the text of json_sampled_caches(), and sets the kinds of the caches that are in the file. Returns
// which objects could not be read. Throws Error if the file has another format.
std::optional<UnseenSource> read_sampled_caches(const std::string& path, std::vector<LargeCache>& caches);

}  // namespace kmt
