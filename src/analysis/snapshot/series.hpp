// SPDX-License-Identifier: GPL-2.0-or-later
// Follows the amounts of a series of snapshots by name, and judges which of them grow.
#pragma once

#include <array>
#include <map>
#include <string>

#include "results/snapshot/series.hpp"
#include "trace/state/sheaves.hpp"

namespace kmt {

class SnapshotSeriesAnalysis {
 public:
  // Adds a snapshot. Call this in order of time. `elapsed_ns` is the time since the first snapshot.
  void add(const SnapshotResult& snapshot, std::uint64_t elapsed_ns);
  // Returns the series. Needs at least one snapshot. The caller fills in the members that describe the file.
  SnapshotSeries finish(double threshold_bytes_per_s);

 private:
  struct Part {
    std::map<std::string, SnapshotRow> rows;
    std::vector<std::string> shrinkable;        // names of rows that consist only of reclaimable memory
    std::map<std::string, SheafBound> sheaves;  // of slab caches, by name
    std::size_t known_since = 0;
    bool known = false;
  };
  void add(SnapshotPart part, const SnapshotResult& snapshot);
  void limit_sheaves();

  std::array<Part, kSnapshotParts.size()> parts_;
  std::vector<std::string> order_;  // names of the balance sheet's lines, in the order of the sheet
  SnapshotSeries series_;
};

}  // namespace kmt
