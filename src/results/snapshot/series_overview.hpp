// SPDX-License-Identifier: GPL-2.0-or-later
// A summary of long series of snapshots for a page: the smallest and the largest amount in each part of the time, and
// events.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "results/snapshot/health.hpp"
#include "results/snapshot/series.hpp"

namespace kmt {

// The bytes of a line of the balance sheet over time. NaN: the part of the time has no snapshot with this line.
struct SeriesBand {
  std::string id;
  std::string label;
  std::vector<double> least;
  std::vector<double> most;
};

struct OomKills {
  std::uint64_t unix_ns = 0;  // time of the first snapshot that counts them
  std::uint64_t kills = 0;
};

// The time in which a health check was unhealthy without interruption.
struct HealthAlert {
  HealthTopic topic = HealthTopic::available;
  Health worst = Health::warn;
  std::string subject;              // of the first snapshot
  double value = 0;                 // the worst value
  std::uint64_t first_unix_ns = 0;  // first unhealthy snapshot
  std::uint64_t last_unix_ns = 0;   // last unhealthy snapshot
};

struct SeriesOverview {
  std::uint64_t first_unix_ns = 0;
  std::uint64_t last_unix_ns = 0;
  std::uint64_t snapshots = 0;               // number of snapshots that were read
  std::vector<SeriesBand> bands;             // all have the same number of parts of the time
  std::vector<std::uint64_t> boots_unix_ns;  // times of the first snapshot after each boot
  std::vector<OomKills> oom_kills;
  std::vector<HealthAlert> alerts;     // in order of their first snapshot
  std::vector<SnapshotSeries> growth;  // one for each file
};

}  // namespace kmt
