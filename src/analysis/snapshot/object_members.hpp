// SPDX-License-Identifier: GPL-2.0-or-later
// Finds what the objects of a kind have in common.
#pragma once

#include "analysis/snapshot/object_features.hpp"
#include "analysis/snapshot/object_kinds.hpp"

namespace kmt {

// Sets the name, the module, the members, the addresses and the evidence of a kind from its objects.
void describe_members(const ObjectFeatures& features, const CacheSample& sample, ObjectGroup& group);

}  // namespace kmt
