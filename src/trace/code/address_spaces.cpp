// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/code/address_spaces.hpp"

#include <algorithm>

namespace kmt {

namespace {

constexpr unsigned kMostForks = 64;  // maximum number of forks that a look-up follows

}  // namespace

void AddressSpaces::add(const SpaceChange& change) {
  switch (change.kind) {
    case SpaceChange::Kind::forked:
      if (change.process != change.parent)
        begin_space(change.process, change.time_ns, space_at(change.parent, change.time_ns));
      break;
    case SpaceChange::Kind::executed:
      // Until execve() returns, the code of the previous program still runs. So look-ups fall back to its mappings.
      begin_space(change.process, change.time_ns, space_at(change.process, change.time_ns));
      break;
    case SpaceChange::Kind::mapped: {
      std::uint32_t space = space_at(change.process, change.time_ns);
      if (space == kNone) space = begin_space(change.process, 0, kNone);
      spaces_[space].mappings.push_back({change.time_ns, change.start, change.size, change.file_offset, change.object});
      break;
    }
  }
}

std::uint32_t AddressSpaces::begin_space(std::int32_t process, std::uint64_t time_ns, std::uint32_t parent) {
  const auto space = static_cast<std::uint32_t>(spaces_.size());
  spaces_.push_back({time_ns, parent, {}});
  of_process_[process].push_back(space);
  return space;
}

// Returns the address space that a process had at a time. For times before its first address space, returns the first
// one: a trace may report mappings later than they were made.
std::uint32_t AddressSpaces::space_at(std::int32_t process, std::uint64_t time_ns) const {
  const auto found = of_process_.find(process);
  if (found == of_process_.end()) return kNone;
  const std::vector<std::uint32_t>& spaces = found->second;
  const auto after =
      std::ranges::upper_bound(spaces, time_ns, {}, [this](std::uint32_t space) { return spaces_[space].since_ns; });
  return after == spaces.begin() ? spaces.front() : *(after - 1);
}

std::optional<CodePlace> AddressSpaces::find(std::int32_t process, std::uint64_t time_ns, std::uint64_t address) const {
  std::uint32_t at = space_at(process, time_ns);
  for (unsigned forks = 0; at != kNone && forks < kMostForks; ++forks) {
    const Space& space = spaces_[at];
    for (auto mapping = space.mappings.rbegin(); mapping != space.mappings.rend(); ++mapping)
      if (mapping->time_ns <= time_ns && address - mapping->start < mapping->size)
        return CodePlace{mapping->object, address - mapping->start + mapping->file_offset};
    time_ns = space.since_ns;
    at = space.parent;
  }
  return std::nullopt;
}

std::uint64_t AddressSpaces::state(std::int32_t process, std::uint64_t time_ns) const {
  const std::uint32_t at = space_at(process, time_ns);
  if (at == kNone) return 0;
  const auto after = std::ranges::upper_bound(spaces_[at].mappings, time_ns, {}, &Mapping::time_ns);
  return (std::uint64_t{at} + 1) << 32 | static_cast<std::uint64_t>(after - spaces_[at].mappings.begin());
}

}  // namespace kmt
