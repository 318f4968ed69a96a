// SPDX-License-Identifier: GPL-2.0-or-later
// Assigns IDs to stacks. Equal stacks get the same ID and are stored only once.
#pragma once

#include <cstdint>
#include <span>

#include "base/flat_map.hpp"
#include "trace/stack_table.hpp"

namespace kmt {

class StackIds {
 public:
  explicit StackIds(StackTable& stacks) : stacks_(stacks) {}
  // Returns the ID of a kernel stack, innermost frame first; 0 for an empty stack.
  StackId id_of(std::span<const std::uint64_t> addresses);
  // Returns the ID of a user stack, which consists of indices into UserCode::frames, innermost first.
  StackId user_id_of(std::span<const std::uint64_t> frames);
  StackId place_id_of(std::uint64_t frame);
  // Returns the ID of a kernel stack combined with a user stack. Either stack may be 0 (none).
  StackId id_of_both(StackId kernel, StackId user);

 private:
  StackTable& stacks_;
  // The keys of kernel_ids_ and user_ids_ are hashes of stacks. If the hash of a new stack is already used by another
  // stack, the next unused number is the key.
  FlatMap<std::uint32_t> kernel_ids_;
  FlatMap<std::uint32_t> user_ids_;
  FlatMap<std::uint32_t> place_ids_;  // key: frame
  FlatMap<std::uint32_t> ids_of_both_;
};

}  // namespace kmt
