// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/series/longest_silence.hpp"

#include <algorithm>

namespace kmt {

namespace {

constexpr std::size_t kMostTasks = 1 << 20;
constexpr std::int32_t kNoTask = std::numeric_limits<std::int32_t>::min();
// Minimum ratio of the longest to the second-longest silence; otherwise the longest does not count.
constexpr std::uint64_t kTimes = 20;

}  // namespace

void LongestSilence::note(std::int32_t tid, std::uint64_t time_ns) {
  if (seen_.size() == kMostTasks && !seen_.contains(tid)) return;
  Seen& seen = seen_[tid];
  seen.first_ns = std::min(seen.first_ns, time_ns);
  seen.last_ns = std::max(seen.last_ns, time_ns);
}

void LongestSilence::add(const Event& event) {
  if (events_ > 0 && event.time_ns > last_ns_) {
    const std::uint64_t ns = event.time_ns - last_ns_;
    second_ns_ = std::max(second_ns_, std::min(ns, longest_ns_));
    if (ns > longest_ns_) {
      begin_ns_ = last_ns_;
      longest_ns_ = ns;
    }
  }
  ++events_;
  last_ns_ = std::max(last_ns_, event.time_ns);
  if (on_cpus_.size() <= event.cpu) on_cpus_.resize(event.cpu + std::size_t{1}, {kNoTask, 0});
  auto& [tid, time_ns] = on_cpus_[event.cpu];
  if (tid != event.tid) {
    if (tid != kNoTask) note(tid, time_ns);
    note(event.tid, event.time_ns);
    tid = event.tid;
  }
  time_ns = event.time_ns;
}

std::optional<LongestSilence::Silence> LongestSilence::out_of_proportion(std::uint64_t least_ns) {
  constexpr std::uint64_t kFewEvents = 1000;  // minimum number of events; with fewer, long silences are normal
  if (events_ < kFewEvents || longest_ns_ <= least_ns || longest_ns_ / kTimes <= second_ns_) return std::nullopt;
  for (const auto& [tid, time_ns] : on_cpus_)
    if (tid != kNoTask) note(tid, time_ns);
  Silence silence{begin_ns_, longest_ns_, {}};
  for (const auto& [tid, seen] : seen_)
    if (seen.first_ns <= begin_ns_ && seen.last_ns >= begin_ns_ + longest_ns_) silence.tasks.push_back(tid);
  return silence;
}

}  // namespace kmt
