// SPDX-License-Identifier: GPL-2.0-or-later
// Writes keys and lifetimes of groups as JSON. Every document with groups uses these functions.
#pragma once

#include <vector>

#include "results/group.hpp"
#include "views/json/common.hpp"

namespace kmt {

Json to_json(const CodeAddress& code);
Json to_json(const Lifetimes& lifetimes);
// Returns the buckets of the histogram that are not empty.
Json histogram_to_json(const Lifetimes& lifetimes);
Json key_to_json(GroupKey key, const KeyValue& value);
// returns {"call-site": …, "cache": …}
Json keys_to_json(const GroupRow& row, const std::vector<GroupKey>& by);

}  // namespace kmt
