// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/user_memory.hpp"

#include <algorithm>
#include <utility>

namespace kmt {

void append(UserMemory& memory, UserMemory more) {
  const auto first = static_cast<std::uint32_t>(memory.objects.size());
  for (CodeObject& object : more.objects) memory.objects.push_back(std::move(object));
  for (SpaceChange& change : more.changes) {
    if (change.kind == SpaceChange::Kind::mapped) change.object += first;
    memory.changes.push_back(change);
  }
  std::ranges::stable_sort(memory.changes, {}, &SpaceChange::time_ns);
}

}  // namespace kmt
