// SPDX-License-Identifier: GPL-2.0-or-later
// Summarises long series of snapshots for a page.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "results/snapshot/series_overview.hpp"

namespace kmt {

class SeriesOverviewAnalysis {
 public:
  // `parts` is the number of parts into which the time is divided, at least 1.
  SeriesOverviewAnalysis(std::uint64_t first_unix_ns, std::uint64_t last_unix_ns, std::size_t parts);
  // Adds a snapshot. Add the snapshots in order of time. The snapshot needs only meminfo and vmstat.
  void add(const SnapshotResult& snapshot);
  SeriesOverview finish();

 private:
  void add_amounts(const SnapshotResult& snapshot);
  void add_events(const KernelMemory& memory);
  void add_health(const SnapshotResult& snapshot);

  SeriesOverview overview_;
  std::size_t parts_;
  std::map<std::string, std::size_t> bands_;  // value: index into overview_.bands
  std::optional<std::uint64_t> page_faults_;  // of the previous snapshot
  std::optional<std::uint64_t> oom_kills_;    // of the previous snapshot
  std::map<HealthTopic, HealthAlert> open_alerts_;
};

}  // namespace kmt
