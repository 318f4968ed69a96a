// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/snapshot/owners.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace kmt {

std::vector<OwnerGrowth> growth_of_owners(const std::vector<MemoryOwner>& before,
                                          const std::vector<MemoryOwner>& after) {
  std::map<std::string, OwnerGrowth> joined;
  for (const MemoryOwner& owner : before) joined[full_name(owner)] = {owner, owner.bytes, 0};
  for (const MemoryOwner& owner : after) {
    OwnerGrowth& growth = joined[full_name(owner)];
    growth.owner = owner;
    growth.after = owner.bytes;
  }
  std::vector<OwnerGrowth> changed;
  for (auto& [name, growth] : joined)
    if (growth.before != growth.after) changed.push_back(std::move(growth));
  std::ranges::stable_sort(changed, std::ranges::greater(), [](const OwnerGrowth& growth) {
    return static_cast<std::int64_t>(growth.after - growth.before);
  });
  return changed;
}

}  // namespace kmt
