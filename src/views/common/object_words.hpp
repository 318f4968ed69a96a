// SPDX-License-Identifier: GPL-2.0-or-later
// Words for the objects of slab caches.
#pragma once

#include <string>
#include <vector>

#include "results/snapshot/object_kinds.hpp"

namespace kmt {

std::string words_of(const WordTarget& target);  // "pipefifo_fops", "list", "object of dentry, at 16"
// Returns the symbol of a kind, or what its objects have in common.
std::string name_of(const SlabKind& kind);
// Returns sentences about limits of the result for a cache.
std::vector<std::string> notes_of(const CacheKinds& cache, ReadingEnd end);

}  // namespace kmt
