// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/user_memory.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace kmt {

void append(UserMemory& memory, UserMemory more) {
  std::map<std::pair<std::string_view, std::string_view>, std::uint32_t> known;
  memory.objects.reserve(memory.objects.size() + more.objects.size());  // the views stay
  for (std::uint32_t i = 0; i < memory.objects.size(); ++i)
    known.try_emplace({memory.objects[i].path, memory.objects[i].build_id}, i);
  std::vector<std::uint32_t> places;
  for (CodeObject& object : more.objects) {
    const auto found = known.find({object.path, object.build_id});
    if (found != known.end()) {
      if (!object.symbols.empty()) memory.objects[found->second].symbols = std::move(object.symbols);
      places.push_back(found->second);
      continue;
    }
    places.push_back(static_cast<std::uint32_t>(memory.objects.size()));
    const CodeObject& added = memory.objects.emplace_back(std::move(object));
    known.try_emplace({added.path, added.build_id}, places.back());
  }
  for (SpaceChange& change : more.changes) {
    if (change.kind == SpaceChange::Kind::mapped) change.object = places[change.object];
    memory.changes.push_back(change);
  }
}

void sort_by_time(UserMemory& memory) { std::ranges::stable_sort(memory.changes, {}, &SpaceChange::time_ns); }

}  // namespace kmt
