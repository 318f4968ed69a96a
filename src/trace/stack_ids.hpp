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
  StackId id_of(std::span<const std::uint64_t> addresses);    // of the kernel, innermost first; 0 of none
  StackId user_id_of(std::span<const std::uint64_t> frames);  // numbers of UserCode::frames, likewise
  StackId place_id_of(std::uint64_t frame);
  // The id of a pair of stacks. Either may be 0.
  StackId id_of_both(StackId kernel, StackId user);

 private:
  StackTable& stacks_;
  // By hash; of those that have the same one by the next numbers.
  FlatMap<std::uint32_t> kernel_ids_;
  FlatMap<std::uint32_t> user_ids_;
  FlatMap<std::uint32_t> place_ids_;  // by frame
  FlatMap<std::uint32_t> ids_of_both_;
};

}  // namespace kmt
