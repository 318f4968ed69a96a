// SPDX-License-Identifier: GPL-2.0-or-later
// Stacks as they come, each of which gets a place in a table once.
#pragma once

#include <cstdint>
#include <span>

#include "base/flat_map.hpp"
#include "trace/stack_table.hpp"

namespace kmt {

class StackIds {
 public:
  explicit StackIds(StackTable& stacks) : stacks_(stacks) {}
  StackId id_of(std::span<const std::uint64_t> addresses);  // innermost first; 0 of none

 private:
  StackTable& stacks_;
  FlatMap<std::uint32_t> ids_;  // by hash; of those that have the same one by the next numbers
};

}  // namespace kmt
