// SPDX-License-Identifier: GPL-2.0-or-later
// A series of snapshots: values of each line, cache, caller, call site and cgroup over time.
// docs/formats/series-json.md has the definitions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "results/report/leaks.hpp"
#include "results/series/trend.hpp"
#include "results/snapshot/snapshot.hpp"

namespace kmt {

struct SnapshotRow {
  SnapshotPart part = SnapshotPart::balance_sheet;
  std::string name;   // for a balance line, its ID
  std::string label;  // label of a balance line, otherwise the name
  unsigned depth = 0;
  bool counted = true;              // false: a remark; its bytes are already in other lines
  bool judged = true;               // false: not kernel memory
  std::size_t first = 0;            // number of the snapshot with the first value
  std::vector<double> values;       // bytes in each snapshot from `first` on
  std::vector<double> reclaimable;  // reclaimable part of each value, if known
  Trend trend;                      // only of judged rows, from the first value that is not 0
  LeakVerdict verdict = LeakVerdict::too_short;

  double change() const { return values.back() - values.front(); }
};

struct SnapshotSeries {
  std::string path;
  std::string release;  // empty: unknown
  std::string machine;
  std::uint64_t first_unix_ns = 0;
  std::uint64_t last_unix_ns = 0;
  std::uint64_t total = 0;                // MemTotal in the last snapshot
  std::vector<std::uint64_t> elapsed_ns;  // times of the snapshots used, since the first snapshot
  std::size_t stored = 0;                 // number of snapshots in the file
  std::size_t damaged = 0;                // number of snapshots that cannot be read
  std::vector<std::string> damage;        // other damage of the file
  bool finished = true;                   // false: writing was interrupted
  double threshold_bytes_per_s = 0;
  double confidence_needed = 0;   // confidence required for certain growth; increases with the number of judged rows
  std::size_t judged = 0;         // number of judged rows
  std::vector<SnapshotRow> rows;  // by part; only the balance sheet has rows without a change

  std::uint64_t span_ns() const { return elapsed_ns.empty() ? 0 : elapsed_ns.back(); }
  bool found() const;  // true if any growth is certain
};

}  // namespace kmt
