// SPDX-License-Identifier: GPL-2.0-or-later
// Puts together what the parts of a trace tell of the memory of its processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "trace/code/user_memory.hpp"

namespace kmt {

// More than that no trace has, and no part of one: a change and an object in memory are larger than in a file.
inline constexpr std::size_t kMostSpaceChanges = 1u << 22;
inline constexpr std::size_t kMostCodeObjects = 1u << 20;

// Objects that are the same become one, with the symbols that came last.
class UserMemoryParts {
 public:
  // Throws Error, and is as it was, where there are too many changes or objects then.
  void add(UserMemory more);
  bool empty() const { return memory_.empty(); }
  // All of it, by time; none is left.
  UserMemory take();

 private:
  UserMemory memory_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> known_;  // objects by path and build-id
};

}  // namespace kmt
