// SPDX-License-Identifier: GPL-2.0-or-later
// A series of snapshots: values of each line, cache, caller, site and cgroup over time. The definitions are those of
// docs/formats/series-json.md.
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
  std::string name;   // of a line its id
  std::string label;  // of a line its words; else the name
  unsigned depth = 0;
  bool counted = true;              // false: a remark, whose bytes are already in other lines
  bool judged = true;               // false: it says nothing of the kernel's own memory
  std::size_t first = 0;            // the snapshot of its first value
  std::vector<double> values;       // bytes, of each snapshot from then on
  std::vector<double> reclaimable;  // the reclaimable part of each, as far as known
  Trend trend;                      // from the first value that is not 0 on; of what is judged
  LeakVerdict verdict = LeakVerdict::too_short;

  double change() const { return values.back() - values.front(); }
};

struct SnapshotSeries {
  std::string path;
  std::string release;  // empty: not known
  std::string machine;
  std::uint64_t first_unix_ns = 0;
  std::uint64_t last_unix_ns = 0;
  std::uint64_t total = 0;                // MemTotal of the last one
  std::vector<std::uint64_t> elapsed_ns;  // of each that was looked at, since the first
  std::size_t stored = 0;                 // in the file
  std::size_t damaged = 0;                // of them, cannot be read
  std::vector<std::string> damage;        // of the file, besides its snapshots
  bool finished = true;                   // false: writing was cut short
  double threshold_bytes_per_s = 0;
  double confidence_needed = 0;   // of evenness, for certain growth: the more rows are judged, the more
  std::size_t judged = 0;         // rows
  std::vector<SnapshotRow> rows;  // by part; what stayed the same is only there of the balance sheet

  std::uint64_t span_ns() const { return elapsed_ns.empty() ? 0 : elapsed_ns.back(); }
  bool found() const;  // certain growth
};

}  // namespace kmt
