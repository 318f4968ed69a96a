// SPDX-License-Identifier: GPL-2.0-or-later
// The reported code in the memory of each process, so that a scan of /proc finds unreported code.
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

  // True if the mapping was reported at any time.
  bool has(const SpaceChange& mapping, std::string_view path) const;
  std::uint64_t changed_ns(std::int32_t process) const;  // time of the last report about it; 0: never
  std::uint64_t began_ns(std::int32_t process) const;    // likewise, of its fork or exec
  // Returns processes with mappings, and the time of each one's last report.
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
    std::shared_ptr<Mappings> mappings;  // shared by several processes until one of them changes; may be null

    Mappings& own();
  };

  static Mapping told(const SpaceChange& mapping, std::string_view path);

  std::unordered_map<std::int32_t, Space> spaces_;
};

}  // namespace kmt
