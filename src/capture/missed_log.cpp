// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/missed_log.hpp"

#include <algorithm>

namespace kmt {

namespace {

constexpr std::size_t kMostStretches = 4096;  // from then on the last one of a function becomes longer

}  // namespace

void MissedLog::begin(std::uint64_t now_ns, MissedCounts counts) {
  last_ns_ = now_ns;
  last_ = std::move(counts);
}

void MissedLog::note(std::uint64_t now_ns, const MissedCounts& counts) {
  for (const auto& [function, count] : counts) {
    std::uint64_t& before = last_[function];
    if (count <= before) continue;
    const std::uint64_t more = count - before;
    before = count;
    total_ += more;
    const auto same = std::find_if(stretches_.rbegin(), stretches_.rend(),
                                   [&name = function](const MissedEvents& one) { return one.function == name; });
    if (stretches_.size() >= kMostStretches && same != stretches_.rend()) {
      same->to_ns = now_ns;
      same->count += more;
    } else {
      stretches_.push_back({last_ns_, now_ns, more, function});
    }
  }
  last_ns_ = now_ns;
}

MissedCounts MissedLog::by_function() const {
  MissedCounts counts;
  for (const MissedEvents& one : stretches_) counts[one.function] += one.count;
  return counts;
}

}  // namespace kmt
