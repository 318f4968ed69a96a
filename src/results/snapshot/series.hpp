// SPDX-License-Identifier: GPL-2.0-or-later
// A series of snapshots: the memory of each balance line, slab cache, caller, call site and cgroup over time.
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
  std::string name;   // name of the cache or site; for a line of the balance sheet, its ID
  std::string label;  // for a line of the balance sheet, its label; otherwise the name
  unsigned depth = 0;
  bool counted = true;              // false: the line is a remark, and its bytes are already in other lines
  bool judged = true;               // false: not tested for growth, because it is not an amount of kernel memory
  std::size_t first = 0;            // index of the first snapshot that contains a value
  std::vector<double> values;       // amounts in each snapshot, starting with snapshot `first`; see counts_cgroups()
  std::vector<double> reclaimable;  // reclaimable part of each element of `values`, as far as known
  // At most this many bytes of the change are free objects in sheaves of CPUs, which count as used.
  double in_sheaves = 0;
  Trend trend;  // trend from the first value that is not 0; only set if `judged`
  LeakVerdict verdict = LeakVerdict::too_short;

  double change() const { return values.back() - values.front(); }
  // True if the whole growth may be free objects in sheaves.
  bool is_in_sheaves() const { return in_sheaves > 0 && change() <= in_sheaves; }
};

struct SnapshotSeries {
  std::string path;
  std::string release;  // empty: unknown
  std::string machine;
  std::uint64_t first_unix_ns = 0;
  std::uint64_t last_unix_ns = 0;
  std::string cgroup;                     // path of the cgroup whose memory the snapshots show; empty: the machine's
  std::uint64_t total = 0;                // MemTotal in the last snapshot, or the usage of the cgroup
  std::vector<std::uint64_t> elapsed_ns;  // times of the readable snapshots, in ns since the first one
  std::size_t stored = 0;                 // number of snapshots in the file
  std::size_t damaged = 0;                // number of snapshots that cannot be read
  std::vector<std::string> damage;        // descriptions of other damage in the file
  std::vector<std::string> notes;         // notes for the user about reports in a kernel log that were not used
  bool finished = true;                   // false: the end of the file is missing, because writing was interrupted
  double threshold_bytes_per_s = 0;
  double confidence_needed = 0;  // confidence (0 to 1) required for certain growth; higher if more rows are tested
  std::size_t judged = 0;        // number of rows tested for growth
  // Sorted by part; contains only rows that changed, and all rows of the balance sheet.
  std::vector<SnapshotRow> rows;

  std::uint64_t span_ns() const { return elapsed_ns.empty() ? 0 : elapsed_ns.back(); }
  bool found() const;  // true if any growth is certain
  // True if growth is neither certain nor excluded: there are too few snapshots, or they have no times.
  bool is_unclear() const;
};

}  // namespace kmt
