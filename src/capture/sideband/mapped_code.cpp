// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/sideband/mapped_code.hpp"

#include <functional>
#include <iterator>
#include <utility>

namespace kmt {

MappedCode::Mapping MappedCode::reported(const SpaceChange& mapping, std::string_view path) {
  return {mapping.size, mapping.file_offset, std::hash<std::string_view>{}(path)};
}

MappedCode::Mappings& MappedCode::Space::own() {
  if (!mappings)
    mappings = std::make_shared<Mappings>();
  else if (mappings.use_count() > 1)
    mappings = std::make_shared<Mappings>(*mappings);
  return *mappings;
}

void MappedCode::add(const SpaceChange& change, std::string_view path) {
  switch (change.kind) {
    case SpaceChange::Kind::forked: {
      Space space;
      if (const auto parent = spaces_.find(change.parent); parent != spaces_.end()) space = parent->second;
      spaces_[change.process] = std::move(space);
      break;
    }
    case SpaceChange::Kind::executed: spaces_[change.process] = {}; break;
    case SpaceChange::Kind::mapped: {
      Mappings& mappings = spaces_[change.process].own();
      // The new mapping replaces older mappings at these addresses.
      auto at = mappings.upper_bound(change.start);
      if (at != mappings.begin() && change.start - std::prev(at)->first < std::prev(at)->second.size) --at;
      while (at != mappings.end() && (at->first < change.start || at->first - change.start < change.size))
        at = mappings.erase(at);
      mappings[change.start] = reported(change, path);
      break;
    }
  }
  Space& space = spaces_[change.process];
  space.changed_ns = change.time_ns;
  if (change.kind != SpaceChange::Kind::mapped) space.began_ns = change.time_ns;
}

void MappedCode::ended(std::int32_t process, std::uint64_t time_ns) {
  const auto space = spaces_.find(process);
  if (space != spaces_.end() && space->second.changed_ns <= time_ns) spaces_.erase(space);
}

bool MappedCode::has(const SpaceChange& mapping, std::string_view path) const {
  const auto space = spaces_.find(mapping.process);
  if (space == spaces_.end() || !space->second.mappings) return false;
  const Mappings& mappings = *space->second.mappings;
  const auto known = mappings.find(mapping.start);
  return known != mappings.end() && known->second == reported(mapping, path);
}

std::uint64_t MappedCode::changed_ns(std::int32_t process) const {
  const auto space = spaces_.find(process);
  return space == spaces_.end() ? 0 : space->second.changed_ns;
}

std::uint64_t MappedCode::began_ns(std::int32_t process) const {
  const auto space = spaces_.find(process);
  return space == spaces_.end() ? 0 : space->second.began_ns;
}

std::vector<std::pair<std::int32_t, std::uint64_t>> MappedCode::processes() const {
  std::vector<std::pair<std::int32_t, std::uint64_t>> with_code;
  for (const auto& [process, space] : spaces_)
    if (space.mappings && !space.mappings->empty()) with_code.emplace_back(process, space.changed_ns);
  return with_code;
}

}  // namespace kmt
