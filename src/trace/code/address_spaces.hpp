// SPDX-License-Identifier: GPL-2.0-or-later
// The code in the memory of a trace's processes at any time.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "trace/code/user_memory.hpp"

namespace kmt {

// An object and the position of an address in it.
struct CodePlace {
  std::uint32_t object = 0;  // index as in SpaceChange::object
  std::uint64_t offset = 0;  // offset in the object's file
};

class AddressSpaces {
 public:
  void add(const SpaceChange& change);  // call in order of time
  bool empty() const { return spaces_.empty(); }

  std::optional<CodePlace> find(std::int32_t process, std::uint64_t time_ns, std::uint64_t address) const;
  // Returns a number for the mappings of a process at a time. For equal numbers, find() gives equal results. 0 if
  // unknown.
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
  // The mappings of a process from its fork or exec until its next exec or its end.
  struct Space {
    std::uint64_t since_ns = 0;
    std::uint32_t parent = kNone;  // parent's space at the time of the fork
    std::vector<Mapping> mappings;
  };

  std::uint32_t space_at(std::int32_t process, std::uint64_t time_ns) const;
  std::uint32_t begin_space(std::int32_t process, std::uint64_t time_ns, std::uint32_t parent);

  std::vector<Space> spaces_;
  std::unordered_map<std::int32_t, std::vector<std::uint32_t>> of_process_;  // by time
};

}  // namespace kmt
