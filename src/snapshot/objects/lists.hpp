// SPDX-License-Identifier: GPL-2.0-or-later
// Follows the kernel's linked lists (struct list_head) to their heads.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>

#include "snapshot/objects/kernel_reader.hpp"

namespace kmt {

struct ListWalk {
  const SlabAddresses* addresses = nullptr;
  // Addresses of the members `next` in objects of the sample that should be in the same list.
  const std::unordered_set<std::uint64_t>* links = nullptr;
  std::size_t least_shared = 3;  // number of these links that must be in the list
  std::uint64_t most_steps = 0;
};

// Follows a list from the link at address `start`, through its head and on, until enough sampled links are seen.
// Returns the address of the head. Empty if the list has no head in the image, or too few of the links. Subtracts the
// steps from `steps_left`, and stops if none are left.
std::optional<std::uint64_t> shared_list_head(KernelReader& memory, std::uint64_t start, const ListWalk& walk,
                                              std::uint64_t& steps_left);

}  // namespace kmt
