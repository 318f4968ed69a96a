// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the code that was mapped at an address of a process at a given time.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "trace/code/user_memory.hpp"

namespace kmt {

// A position in the file of an object (a program or library).
struct CodePlace {
  std::uint32_t object = 0;  // index into UserMemory::objects
  std::uint64_t offset = 0;  // offset in the file of the object, in bytes
};

class AddressSpaces {
 public:
  void add(const SpaceChange& change);  // must be called in order of time
  bool empty() const { return spaces_.empty(); }

  std::optional<CodePlace> find(std::int32_t process, std::uint64_t time_ns, std::uint64_t address) const;
  // Returns a number that identifies the mappings of a process at a time; 0 if unknown. If the numbers for two times
  // are equal, find() gives equal results for both times.
  std::uint64_t state(std::int32_t process, std::uint64_t time_ns) const;

 private:
  static constexpr std::uint32_t kNone = ~0u;

  struct Mapping {
    std::uint64_t time_ns;
    std::uint64_t start;
    std::uint64_t size;
    std::uint64_t file_offset;
    std::uint32_t object;
  };
  // The mappings of a process from a fork or exec until the next exec or the end of the process.
  struct Space {
    std::uint64_t since_ns = 0;
    std::uint32_t parent = kNone;  // index of the parent's space at the time of the fork
    std::vector<Mapping> mappings;
  };

  std::uint32_t space_at(std::int32_t process, std::uint64_t time_ns) const;
  std::uint32_t begin_space(std::int32_t process, std::uint64_t time_ns, std::uint32_t parent);

  std::vector<Space> spaces_;
  std::unordered_map<std::int32_t, std::vector<std::uint32_t>> of_process_;  // each list is sorted by time
};

}  // namespace kmt
