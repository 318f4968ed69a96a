// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/objects/lists.hpp"

namespace kmt {

std::optional<std::uint64_t> shared_list_head(KernelReader& memory, std::uint64_t start, const ListWalk& walk,
                                              std::uint64_t& steps_left) {
  std::optional<std::uint64_t> head;
  std::size_t shared = 1;
  std::uint64_t at = start;
  for (std::uint64_t step = 0; step < walk.most_steps && steps_left > 0; ++step) {
    --steps_left;
    const auto next = read_word(memory, at);
    if (!next || *next == start || *next < walk.addresses->page_offset) return std::nullopt;
    at = *next;
    if (!head && walk.addresses->is_in_image(at)) head = at;
    if (walk.links->contains(at)) ++shared;
    if (head && shared >= walk.least_shared) return head;
  }
  return std::nullopt;
}

}  // namespace kmt
