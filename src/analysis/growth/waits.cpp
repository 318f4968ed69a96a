// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/growth/waits.hpp"

#include <algorithm>

#include "results/snapshot/health.hpp"

namespace kmt {

void add_waiting_share(const KernelMemory& before, const KernelMemory& after, double seconds,
                       InvestigatedWaits& waits) {
  // The limit of the health check is for five minutes. In a shorter time, one short burst may exceed it. In seconds;
  // chosen by judgement.
  constexpr double kLeastWaiting = 3;
  const auto first = find_number(before.pressure, "some");
  const auto last = find_number(after.pressure, "some");
  if (!first || !last || *last < *first || !(seconds > 0)) return;
  const double share = std::min(1.0, static_cast<double>(*last - *first) / 1e6 / seconds);
  waits.some_share = share;
  waits.are_long = share >= limits_of(HealthTopic::pressure).warn && share * seconds >= kLeastWaiting;
}

}  // namespace kmt
