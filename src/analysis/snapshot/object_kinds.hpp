// SPDX-License-Identifier: GPL-2.0-or-later
// Groups the sampled objects of a slab cache into kinds.
#pragma once

#include <cstdint>
#include <vector>

#include "results/snapshot/object_kinds.hpp"
#include "trace/state/object_sample.hpp"

namespace kmt {

// Objects of one kind, and their common members.
struct ObjectGroup {
  std::vector<const ObjectSample*> objects;  // they point into the sample
  SlabKind kind;
  std::vector<MemberEvidence> evidence;  // sorted by offset
  std::vector<std::uint32_t> chains;     // offsets of lists that link objects of this kind
};

// Objects with the same functions and tables of functions are of one kind. Objects without any are of one kind if their
// other pointers, lists and texts do not contradict each other. The kinds have no estimates yet.
std::vector<ObjectGroup> group_objects(const CacheSample& sample, const ImageSymbols& symbols);

// Sets the module of a kind from other memory that its objects lead to: heads of lists, or objects they point to.
void set_module(SlabKind& kind, const ImageSymbol& symbol, ModuleSource source);

// Adds the estimates, and sorts the kinds.
CacheKinds finish_kinds(const CacheSample& sample, std::vector<ObjectGroup> groups);

}  // namespace kmt
