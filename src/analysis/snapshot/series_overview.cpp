// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/snapshot/series_overview.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kmt {

SeriesOverviewAnalysis::SeriesOverviewAnalysis(std::uint64_t first_unix_ns, std::uint64_t last_unix_ns,
                                               std::size_t parts)
    : parts_(parts) {
  overview_.first_unix_ns = first_unix_ns;
  overview_.last_unix_ns = std::max(first_unix_ns, last_unix_ns);
}

void SeriesOverviewAnalysis::add(const SnapshotResult& snapshot, bool is_whole) {
  ++overview_.snapshots;
  add_amounts(snapshot, is_whole);
  add_events(snapshot.memory);
  add_health(snapshot);
}

void SeriesOverviewAnalysis::add_amounts(const SnapshotResult& snapshot, bool is_whole) {
  const double span = static_cast<double>(overview_.last_unix_ns - overview_.first_unix_ns) + 1;
  const double since = static_cast<double>(snapshot.memory.unix_ns) - static_cast<double>(overview_.first_unix_ns);
  const auto part = static_cast<std::size_t>(std::clamp(since / span, 0.0, 1.0) * static_cast<double>(parts_));
  bool has_all = true;
  for (const BalanceLine& line : snapshot.sheet) {
    if (line.depth > 0 || !line.counted) continue;
    if (is_whole) sources_[line.id] = line.source;
    const bool is_same = line.source == sources_[line.id];
    has_all = has_all && is_same;
    // Unaccounted memory is the rest, so it depends on all lines.
    if (line.known && is_same && (has_all || line.id != "unaccounted")) add_amount(line, std::min(part, parts_ - 1));
  }
}

void SeriesOverviewAnalysis::add_amount(const BalanceLine& line, std::size_t part) {
  const auto [found, is_new] = bands_.try_emplace(line.id, overview_.bands.size());
  if (is_new) {
    const std::vector<double> none(parts_, std::nan(""));
    overview_.bands.push_back({line.id, line.label, none, none});
  }
  SeriesBand& band = overview_.bands[found->second];
  const auto bytes = static_cast<double>(line.bytes);
  band.least[part] = std::fmin(band.least[part], bytes);  // the other value if one is NaN
  band.most[part] = std::fmax(band.most[part], bytes);
}

// The kernel never reduces pgfault. So if it is smaller than in the previous snapshot, the machine was booted.
void SeriesOverviewAnalysis::add_events(const KernelMemory& memory) {
  const auto faults = find_number(memory.vmstat, "pgfault");
  const auto kills = find_number(memory.vmstat, "oom_kill");
  if (faults && page_faults_ && *faults < *page_faults_) {
    overview_.boots_unix_ns.push_back(memory.unix_ns);
    oom_kills_ = 0;
  }
  if (kills && oom_kills_ && *kills > *oom_kills_)
    overview_.oom_kills.push_back({memory.unix_ns, *kills - *oom_kills_});
  if (faults) page_faults_ = faults;
  if (kills) oom_kills_ = kills;
}

void SeriesOverviewAnalysis::add_health(const SnapshotResult& snapshot) {
  for (const HealthCheck& check : snapshot.health) {
    if (check.health == Health::unknown || !check.value) continue;
    const auto open = open_alerts_.find(check.topic);
    if (!is_unhealthy(check)) {
      if (open == open_alerts_.end()) continue;
      overview_.alerts.push_back(std::move(open->second));
      open_alerts_.erase(open);
      continue;
    }
    const std::uint64_t now = snapshot.memory.unix_ns;
    HealthAlert& alert =
        open_alerts_
            .try_emplace(check.topic, HealthAlert{check.topic, check.health, check.subject, *check.value, now, now})
            .first->second;
    const bool low_is_bad = limits_of(check.topic).low_is_bad;
    alert.value = low_is_bad ? std::min(alert.value, *check.value) : std::max(alert.value, *check.value);
    alert.worst = std::max(alert.worst, check.health);
    alert.last_unix_ns = now;
  }
}

SeriesOverview SeriesOverviewAnalysis::finish() {
  for (auto& [topic, alert] : open_alerts_) overview_.alerts.push_back(std::move(alert));
  std::ranges::stable_sort(overview_.alerts, {}, &HealthAlert::first_unix_ns);
  return std::move(overview_);
}

}  // namespace kmt
