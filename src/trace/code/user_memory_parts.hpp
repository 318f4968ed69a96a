// SPDX-License-Identifier: GPL-2.0-or-later
// Merges the parts of a trace about the memory of its processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "trace/code/user_memory.hpp"

namespace kmt {

// Limits for damaged traces; real traces stay below. Without limits, a small file could fill the memory, because
// changes and objects need more bytes in memory than in a file.
inline constexpr std::size_t kMostSpaceChanges = 1u << 22;
inline constexpr std::size_t kMostCodeObjects = 1u << 20;

// Equal objects are merged, and keep the symbols that were added last.
class UserMemoryParts {
 public:
  // Throws Error if there would be too many changes or objects. If it throws, the data is unchanged.
  void add(UserMemory more);
  bool empty() const { return memory_.empty(); }
  // Returns all data, sorted by time, and removes it from this object.
  UserMemory take();

 private:
  UserMemory memory_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> known_;  // objects by path and build ID
};

}  // namespace kmt
