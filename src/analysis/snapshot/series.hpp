// SPDX-License-Identifier: GPL-2.0-or-later
// Follows what snapshots have by name from one to the next, and judges what grows.
#pragma once

#include <array>
#include <map>
#include <string>

#include "results/snapshot/series.hpp"

namespace kmt {

class SnapshotSeriesAnalysis {
 public:
  // By time; `elapsed_ns` since the first one.
  void add(const SnapshotResult& snapshot, std::uint64_t elapsed_ns);
  // After at least one. The caller fills in what concerns the file.
  SnapshotSeries finish(double threshold_bytes_per_s);

 private:
  struct Part {
    std::map<std::string, SnapshotRow> rows;
    std::vector<std::string> shrinkable;  // names of rows that are reclaimable as a whole
    std::size_t known_since = 0;
    bool known = false;
  };
  void add(SnapshotPart part, const SnapshotResult& snapshot);

  std::array<Part, kSnapshotParts.size()> parts_;
  std::vector<std::string> order_;  // of the balance sheet's lines
  SnapshotSeries series_;
};

}  // namespace kmt
