// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the BTF structure that matches the objects of a kind.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/btf.hpp"
#include "trace/state/object_sample.hpp"

namespace kmt {

// The cache in which the objects are.
struct GuessedCache {
  std::string name;
  std::vector<std::string> aliases;
  std::uint64_t smallest = 0;  // sizes of objects for which the allocator uses the cache
  std::uint64_t largest = 0;
};

// Returns the structure that matches best. A pointer to a function must have the function's prototype in BTF. In a
// table of functions, each pointer must. A pointer to an object must point to a structure with the object size of its
// cache. At least one such member, or the name of the cache, must match. The name is empty if no structure matches, or
// if several match equally well.
StructureGuess guess_structure(const Btf& btf, const GuessedCache& cache, std::span<const MemberEvidence> evidence);

// True if the name of a cache is made from the name of the structure: "ext4_inode_cache" and "ext4_inode".
bool is_cache_of(std::string_view cache, std::string_view structure);

}  // namespace kmt
