// SPDX-License-Identifier: GPL-2.0-or-later
// Tracks the code in each process's memory that events have reported, so that a scan of /proc can find unreported code.
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
  // Changes must be in order of time. `path` is the path of the mapping's object.
  void add(const SpaceChange& change, std::string_view path);
  void ended(std::int32_t process, std::uint64_t time_ns);

  // True if an event has ever reported this mapping.
  bool has(const SpaceChange& mapping, std::string_view path) const;
  std::uint64_t changed_ns(std::int32_t process) const;  // time of the last report about the process; 0: never
  // Returns the time of the last report of a fork or exec of the process; 0: never.
  std::uint64_t began_ns(std::int32_t process) const;
  // Returns the processes that have mappings, and the time of the last report about each.
  std::vector<std::pair<std::int32_t, std::uint64_t>> processes() const;

 private:
  struct Mapping {
    std::uint64_t size;
    std::uint64_t file_offset;
    std::size_t path_hash;
    bool operator==(const Mapping&) const = default;
  };
  using Mappings = std::map<std::uint64_t, Mapping>;  // key: start address
  struct Space {
    std::uint64_t changed_ns = 0;
    std::uint64_t began_ns = 0;
    std::shared_ptr<Mappings> mappings;  // processes share the mappings until one of them changes its own; may be null

    Mappings& own();
  };

  static Mapping reported(const SpaceChange& mapping, std::string_view path);

  std::unordered_map<std::int32_t, Space> spaces_;
};

}  // namespace kmt
