// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/sideband/ended_processes.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <unordered_set>
#include <utility>

namespace kmt {

void forget_ended(std::vector<SpaceChange>& changes, std::unordered_map<std::int32_t, std::uint64_t>& ended,
                  std::size_t most, const std::function<bool(std::int32_t process)>& is_there) {
  if (changes.size() <= most) return;
  std::unordered_set<std::int32_t> gone;
  for (const auto& [process, end_ns] : ended)
    if (!is_there(process)) gone.insert(process);
  std::unordered_map<std::int32_t, std::size_t> counts;
  // Key: a process that has run no other program since it was forked. Value: its parent.
  std::unordered_map<std::int32_t, std::int32_t> programs_of;
  for (const SpaceChange& change : changes) {
    ++counts[change.process];
    if (change.kind == SpaceChange::Kind::forked) programs_of[change.process] = change.parent;
    if (change.kind == SpaceChange::Kind::executed) programs_of.erase(change.process);
  }
  std::unordered_set<std::int32_t> needed;
  for (const auto& [process, count] : counts)
    if (!gone.contains(process))
      for (auto from = programs_of.find(process); from != programs_of.end() && needed.insert(from->second).second;)
        from = programs_of.find(from->second);

  std::vector<std::pair<std::uint64_t, std::int32_t>> by_end;
  for (const auto& [process, end_ns] : ended)
    if (gone.contains(process) && !needed.contains(process)) by_end.emplace_back(end_ns, process);
  std::ranges::sort(by_end);
  std::unordered_set<std::int32_t> forgotten;
  std::size_t left = changes.size();
  for (const auto& [end_ns, process] : by_end) {
    if (left <= most / 2) break;
    forgotten.insert(process);
    left -= counts[process];
    ended.erase(process);
  }
  std::erase_if(changes, [&forgotten](const SpaceChange& change) { return forgotten.contains(change.process); });
}

// True if the process exists, even if it has ended and its parent has not waited for it yet.
bool is_process(std::int32_t id) { return id > 0 && (::kill(id, 0) == 0 || errno == EPERM); }

}  // namespace kmt
