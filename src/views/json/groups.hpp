// SPDX-License-Identifier: GPL-2.0-or-later
// Group keys and lifetimes as JSON, the same in every document with groups.
#pragma once

#include <vector>

#include "results/group.hpp"
#include "views/json/common.hpp"

namespace kmt {

Json to_json(const CodeAddress& code);
Json to_json(const Lifetimes& lifetimes);
// Leaves out empty buckets.
Json histogram_to_json(const Lifetimes& lifetimes);
Json key_to_json(GroupKey key, const KeyValue& value);
// {"call-site": …, "cache": …}
Json keys_to_json(const GroupRow& row, const std::vector<GroupKey>& by);

}  // namespace kmt
