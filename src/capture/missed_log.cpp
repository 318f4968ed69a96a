// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/missed_log.hpp"

#include <utility>

namespace kmt {

namespace {

constexpr std::size_t kMostIntervals = 4096;
constexpr std::uint64_t kForEver = std::uint64_t{1} << 62;

}  // namespace

void MissedLog::begin(std::uint64_t now_ns, MissedCounts counts) {
  last_ns_ = now_ns;
  last_ = std::move(counts);
}

void MissedLog::note(std::uint64_t asked_ns, std::uint64_t answered_ns, const MissedCounts& counts) {
  for (const auto& [function, count] : counts) {
    std::uint64_t& before = last_[function];
    if (count <= before) continue;
    const std::uint64_t more = count - before;
    before = count;
    total_ += more;
    intervals_.push_back({last_ns_, answered_ns, more, function});
  }
  if (intervals_.size() > kMostIntervals) join_intervals();
  last_ns_ = asked_ns;
}

void MissedLog::join_intervals() {
  for (join_up_to_longest(); intervals_.size() > kMostIntervals / 2 && longest_ns_ < kForEver; join_up_to_longest())
    longest_ns_ *= 2;
}

void MissedLog::join_up_to_longest() {
  std::map<std::string, std::size_t> last;  // index of each function's last interval in the result
  std::vector<MissedEvents> joined;
  for (MissedEvents& one : intervals_) {
    const auto [before, is_first] = last.try_emplace(one.function, joined.size());
    if (!is_first && one.to_ns - joined[before->second].from_ns <= longest_ns_) {
      joined[before->second].to_ns = one.to_ns;
      joined[before->second].count += one.count;
      continue;
    }
    before->second = joined.size();
    joined.push_back(std::move(one));
  }
  intervals_ = std::move(joined);
}

MissedCounts MissedLog::by_function() const {
  MissedCounts counts;
  for (const MissedEvents& one : intervals_) counts[one.function] += one.count;
  return counts;
}

}  // namespace kmt
