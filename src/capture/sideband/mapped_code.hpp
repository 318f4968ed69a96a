// SPDX-License-Identifier: GPL-2.0-or-later
// What code lies in the memory of each process now, as far as it was told: who reads /proc again finds by it what was
// not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/code/user_memory.hpp"

namespace kmt {

class MappedCode {
 public:
  // In the order of time. `path` is that of a mapping's object.
  void add(const SpaceChange& change, std::string_view path);
  void ended(std::int32_t process, std::uint64_t time_ns);

  // Whether the mapping was told of, whenever.
  bool has(const SpaceChange& mapping, std::string_view path) const;
  std::uint64_t changed_ns(std::int32_t process) const;  // when something was told of it last; 0: never
  std::uint64_t began_ns(std::int32_t process) const;    // likewise, of its fork or exec
  // Processes that have any, and when something was told of each last.
  std::vector<std::pair<std::int32_t, std::uint64_t>> processes() const;

 private:
  struct Mapping {
    std::uint64_t size;
    std::uint64_t file_offset;
    std::size_t path_hash;
    bool operator==(const Mapping&) const = default;
  };
  using Mappings = std::map<std::uint64_t, Mapping>;  // by start
  struct Space {
    std::uint64_t changed_ns = 0;
    std::uint64_t began_ns = 0;
    std::shared_ptr<Mappings> mappings;  // of several processes until one of them changes; null: none

    Mappings& own();
  };

  static Mapping told(const SpaceChange& mapping, std::string_view path);

  std::unordered_map<std::int32_t, Space> spaces_;
};

}  // namespace kmt
