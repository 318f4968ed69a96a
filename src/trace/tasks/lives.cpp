// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/tasks/lives.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace kmt {

namespace {

// Maximum time in ns between the events that report one birth: perf's fork record, task_newtask, and
// sched_process_fork. The kernel does not reuse a task ID within this time.
constexpr std::uint64_t kSameBirthNs = 1'000'000;

template <typename Value>
const Value* find(const std::unordered_map<std::int32_t, Value>& map, std::int32_t key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

// Returns the latest entry at or before this time.
template <typename Value>
auto last_until(const std::map<std::uint64_t, Value>& map, std::uint64_t time_ns) {
  const auto later = map.upper_bound(time_ns);
  return later == map.begin() ? map.end() : std::prev(later);
}

}  // namespace

// Adds a birth. If several events report one birth, their information is combined, and the time of the first event is
// used.
void TaskLives::born(const TaskLife& life) {
  auto& lives = lives_[life.tid];
  const std::uint64_t until = std::max(life.born_ns, life.born_ns + kSameBirthNs);
  auto same = lives.lower_bound(life.born_ns - std::min(life.born_ns, kSameBirthNs));
  while (same != lives.end() && same->first < until && same->second.creator != life.creator) ++same;
  if (same == lives.end() || same->first >= until) {
    lives.insert_or_assign(life.born_ns, life);
    return;
  }
  TaskLife& same_life = same->second;
  if (life.knows_kind) same_life.is_thread = life.is_thread;
  same_life.knows_kind = same_life.knows_kind || life.knows_kind;
  same_life.begins_pid_space = same_life.begins_pid_space || life.begins_pid_space;
  if (same_life.born_ns <= life.born_ns || lives.contains(life.born_ns)) return;
  same_life.born_ns = life.born_ns;
  // Extract() does not move the stored value in memory, so pointers to the value stay valid.
  auto node = lives.extract(same);
  node.key() = life.born_ns;
  lives.insert(std::move(node));
}

void TaskLives::moved(std::int32_t tid, std::uint64_t time_ns, std::string_view cgroup) {
  moves_[tid].insert_or_assign(time_ns, std::string(cgroup));
}

void TaskLives::known(std::int32_t pid, KnownProcess process, Noted when) {
  noted_[static_cast<std::size_t>(when)].insert_or_assign(pid, std::move(process));
}

std::map<std::int32_t, KnownProcess> TaskLives::noted(Noted when) const {
  return {noted_of(when).begin(), noted_of(when).end()};
}

std::vector<TaskLife> TaskLives::births() const {
  std::vector<TaskLife> births;
  for (const auto& [tid, lives] : lives_)
    for (const auto& [born_ns, life] : lives) births.push_back(life);
  std::ranges::sort(births, {}, [](const TaskLife& life) { return std::pair(life.tid, life.born_ns); });
  return births;
}

const TaskLife* TaskLives::life_at(std::int32_t tid, std::uint64_t time_ns) const {
  const auto* const lives = find(lives_, tid);
  if (lives == nullptr) return nullptr;
  const auto life = last_until(*lives, time_ns);
  return life == lives->end() ? nullptr : &life->second;
}

std::uint64_t TaskLives::next_birth_ns(std::int32_t tid, const TaskLife* life) const {
  constexpr auto kNever = std::numeric_limits<std::uint64_t>::max();
  const auto* const lives = find(lives_, tid);
  if (lives == nullptr) return kNever;
  const auto next = life == nullptr ? lives->begin() : lives->upper_bound(life->born_ns);
  return next == lives->end() ? kNever : next->first;
}

bool TaskLives::is_used_again(std::int32_t tid) const {
  const auto* const lives = find(lives_, tid);
  return lives != nullptr && lives->size() + noted_of(Noted::at_begin).count(tid) > 1;
}

const KnownProcess* TaskLives::known_at_begin(std::int32_t pid) const {
  if (const KnownProcess* const process = find(noted_of(Noted::at_begin), pid)) return process;
  return lives_.contains(pid) ? nullptr : find(noted_of(Noted::meanwhile), pid);
}
const KnownProcess* TaskLives::known_later(std::int32_t pid) const { return find(noted_of(Noted::later), pid); }

std::string_view TaskLives::moved_to(std::int32_t tid, std::uint64_t born_ns, std::uint64_t time_ns) const {
  const auto* const moves = find(moves_, tid);
  if (moves == nullptr) return {};
  const auto move = last_until(*moves, time_ns);
  return move == moves->end() || move->first < born_ns ? std::string_view() : std::string_view(move->second);
}

}  // namespace kmt
