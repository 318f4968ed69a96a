// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/code/user_memory_parts.hpp"

#include <algorithm>
#include <vector>

#include "base/error.hpp"

namespace kmt {

void UserMemoryParts::add(UserMemory more) {
  if (more.changes.size() > kMostSpaceChanges - memory_.changes.size()) throw Error("The file has too many mappings");
  const auto is_new = [this](const CodeObject& object) { return !known_.contains({object.path, object.build_id}); };
  if (memory_.objects.size() + more.objects.size() > kMostCodeObjects &&
      static_cast<std::size_t>(std::ranges::count_if(more.objects, is_new)) > kMostCodeObjects - memory_.objects.size())
    throw Error("The file has too many programs");
  std::vector<std::uint32_t> places;
  places.reserve(more.objects.size());
  for (CodeObject& object : more.objects) {
    const auto [known, added] =
        known_.try_emplace({object.path, object.build_id}, static_cast<std::uint32_t>(memory_.objects.size()));
    places.push_back(known->second);
    if (added)
      memory_.objects.push_back(std::move(object));
    else if (!object.symbols.empty())
      memory_.objects[known->second].symbols = std::move(object.symbols);
  }
  for (SpaceChange& change : more.changes) {
    if (change.kind == SpaceChange::Kind::mapped) change.object = places[change.object];
    memory_.changes.push_back(change);
  }
}

UserMemory UserMemoryParts::take() {
  known_.clear();
  UserMemory memory = std::exchange(memory_, {});
  sort_by_time(memory);
  return memory;
}

}  // namespace kmt
