// SPDX-License-Identifier: GPL-2.0-or-later
// Merges the parts of a trace that describe the memory of its processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "trace/code/user_memory.hpp"

namespace kmt {

// Limits for damaged traces; real traces stay below them. Changes and objects take more bytes in memory than in a file.
// Without limits, a small file could fill the memory.
inline constexpr std::size_t kMostSpaceChanges = 1u << 22;
inline constexpr std::size_t kMostCodeObjects = 1u << 20;

// Merges equal objects. A merged object has the symbols that were added last.
class UserMemoryParts {
 public:
  // Throws Error if the sum would exceed a limit. The data is then unchanged.
  void add(UserMemory more);
  bool empty() const { return memory_.empty(); }
  // Returns all data, sorted by time, and removes it from this object.
  UserMemory take();

 private:
  UserMemory memory_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> known_;  // by path and build ID: index of the object
};

}  // namespace kmt
