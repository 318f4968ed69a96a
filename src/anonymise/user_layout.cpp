// SPDX-License-Identifier: GPL-2.0-or-later
#include "anonymise/user_layout.hpp"

#include <algorithm>

namespace kmt {

namespace {

// True for generated code that a perf-PID.map describes. It is in no file, and its offsets are memory addresses.
bool is_made_code(const CodeObject& object) { return object.path.starts_with("/tmp/perf-"); }

constexpr std::uint64_t kAlignment = 1 << 20;
constexpr std::uint64_t kNowhere = 0;  // the place of code that is not in a file

}  // namespace

UserLayout::UserLayout(const UserMemory& memory) {
  std::vector<std::uint64_t> ends(memory.objects.size());
  for (const SpaceChange& change : memory.changes) {
    spaces_.add(change);
    if (change.kind == SpaceChange::Kind::mapped && change.object < ends.size() &&
        !is_made_code(memory.objects[change.object]))
      ends[change.object] = std::max(ends[change.object], change.file_offset + change.size);
  }
  std::uint64_t place = kAlignment;
  for (std::size_t object = 0; object < ends.size(); ++object) {
    const std::uint64_t end = ends[object];
    places_.push_back(is_made_code(memory.objects[object]) ? kNowhere : place);
    place += (end + kAlignment) & ~(kAlignment - 1);
  }
}

std::uint64_t UserLayout::moved(std::int32_t process, std::uint64_t time_ns, std::uint64_t address) const {
  if (address == 0) return 0;
  const auto place = spaces_.find(process, time_ns, address);
  const bool is_in_a_file = place && place->object < places_.size() && places_[place->object] != kNowhere;
  return is_in_a_file ? places_[place->object] + place->offset : 1;
}

UserMemory UserLayout::memory(const UserMemory& from, const Pseudonyms& pseudonyms) const {
  UserMemory to;
  for (const CodeObject& object : from.objects) {
    const bool is_vdso = object.path == "[vdso]";
    to.objects.push_back({is_vdso ? object.path : pseudonyms.path(object.path), "", is_vdso ? object.symbols : ""});
  }
  for (SpaceChange change : from.changes) {
    if (change.kind == SpaceChange::Kind::mapped) {
      if (change.object >= places_.size() || places_[change.object] == kNowhere) continue;
      change.start = places_[change.object] + change.file_offset;
    }
    to.changes.push_back(change);
  }
  return to;
}

}  // namespace kmt
