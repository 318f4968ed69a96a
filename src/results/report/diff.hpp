// SPDX-License-Identifier: GPL-2.0-or-later
// The result of `diff`: the groups of two reports, and the changes between them that are larger than noise.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "results/columns.hpp"
#include "results/report/report.hpp"

namespace kmt {

// The unit by which counts are divided. Division makes traces of different length comparable.
enum class DiffPer : std::uint8_t { trace, second, event };
struct DiffBasis {
  DiffPer per = DiffPer::trace;
  std::string event;  // name of the event for DiffPer::event
  double a = 1;       // divisor of trace A: seconds or number of events; 1 if counts are not divided
  double b = 1;
  std::string why;  // reason why this divisor is used: "one lasts longer than the other"
};

// A pair of groups with the same name, one in each trace. If only one trace has the group, the values of the other
// trace are 0. The values of a trace are unknown if it has no allocations of the allocator. Bytes and cross-node frees
// are unknown if no group of the trace has them.
struct DiffRow {
  std::vector<KeyValue> keys;  // empty if the row is a sum
  std::string name;
  std::optional<GroupRow> a;  // empty: the values are unknown
  std::optional<GroupRow> b;
  bool in_a = false;  // true: trace A has the group
  bool in_b = false;
};
struct DiffTable {
  Allocator allocator = Allocator::slab;
  std::vector<DiffRow> rows;  // unsorted; views sort and limit them
  bool knows_a = true;  // false: trace A has no allocations of the allocator, so its values are unknown in all rows
  bool knows_b = true;
};

struct DiffTotal {
  Allocator allocator = Allocator::slab;
  DiffRow row;
};

struct DiffResult {
  TraceSummary a;
  TraceSummary b;
  DiffBasis basis;
  std::vector<GroupKey> by;
  std::vector<DiffTotal> totals;
  std::vector<DiffTable> tables;
};

// Limits below which a change counts as noise and is not reported. Counts of independent events vary by their square
// root, but kernel events occur in bursts and vary more. A change above the limits may still be chance.
struct Noise {
  static constexpr double kDeviations = 3;
  double percent = 5;  // smaller changes count as noise; in columns that show percent, the unit is percentage points
  // A change is only reported if the value is based on at least this many events. One trace must have them or, for
  // means and shares, both traces.
  std::uint64_t least_count = 10;
};

enum class Verdict : std::uint8_t {
  unknown,  // the value of one trace is unknown
  unchanged,
  changed,
};
struct Change {
  std::optional<double> a;  // value in trace A; divided by the divisor of the trace if the column counts events
  std::optional<double> b;
  std::optional<double> difference;  // b - a
  std::optional<double> percent;     // change in percent of `a`; empty if `a` is 0
  Verdict verdict = Verdict::unknown;
};

// Returns the columns of group_columns() that can be compared.
std::vector<const Column<GroupRow>*> diff_columns();
// True if the column counts events, so that its values are larger in a longer trace. Live memory, means and shares do
// not depend on the length in this way.
bool grows_with_time(const Column<GroupRow>& column);
// True if smaller values are better: bytes, waste, failures, and frees on other CPUs or nodes. In other columns,
// neither direction is better.
bool less_is_better(const Column<GroupRow>& column);

Change change_of(const DiffRow& row, const Column<GroupRow>& column, const DiffBasis& basis, const Noise& noise);

// The rows of a table, grouped by how their values in one column change. Changed rows are sorted by the size of the
// change, largest first.
struct DiffOrder {
  std::vector<const DiffRow*> changed;
  std::vector<const DiffRow*> unchanged;
  std::vector<const DiffRow*> unknown;
};
DiffOrder ordered_rows(const DiffTable& table, const Column<GroupRow>& column, const DiffBasis& basis,
                       const Noise& noise);

// Returns one row with the sums of trace A and trace B.
DiffRow sum_of(std::span<const DiffRow* const> rows, std::string_view name);

}  // namespace kmt
