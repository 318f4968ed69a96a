// SPDX-License-Identifier: GPL-2.0-or-later
// The code that the processes of a trace had in their memory, at every time.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "trace/code/user_memory.hpp"

namespace kmt {

// Where in which object an address lies.
struct CodePlace {
  std::uint32_t object = 0;  // as SpaceChange::object
  std::uint64_t offset = 0;  // in its file
};

class AddressSpaces {
 public:
  void add(const SpaceChange& change);  // in the order of time
  bool empty() const { return spaces_.empty(); }

  std::optional<CodePlace> find(std::int32_t process, std::uint64_t time_ns, std::uint64_t address) const;
  // Equal states of a process have equal places; 0: unknown.
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
  // From a fork or an exec to the next.
  struct Space {
    std::uint64_t since_ns = 0;
    std::uint32_t parent = kNone;  // as it was then
    std::vector<Mapping> mappings;
  };

  std::uint32_t space_at(std::int32_t process, std::uint64_t time_ns) const;
  std::uint32_t begin_space(std::int32_t process, std::uint64_t time_ns, std::uint32_t parent);

  std::vector<Space> spaces_;
  std::unordered_map<std::int32_t, std::vector<std::uint32_t>> of_process_;  // by time
};

}  // namespace kmt
