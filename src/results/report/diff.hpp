// SPDX-License-Identifier: GPL-2.0-or-later
// The result of `diff`: the groups of two reports, and the changes between them that exceed noise.
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

// The divisor of counts. It makes traces of different length comparable.
enum class DiffPer : std::uint8_t { trace, second, event };
struct DiffBasis {
  DiffPer per = DiffPer::trace;
  std::string event;  // name of the event for DiffPer::event
  double a = 1;       // seconds, or number of events; 1 if counts are not divided
  double b = 1;
  std::string why;  // reason for the basis: "one lasts longer than the other"
};

// Groups of both traces that have the same name. If only one trace has the group, the other trace has zeros. Its values
// are unknown if it has no allocations of the allocator; bytes and cross-node frees are unknown if none of its groups
// has them.
struct DiffRow {
  std::vector<KeyValue> keys;  // empty for a sum
  std::string name;
  std::optional<GroupRow> a;  // empty: unknown
  std::optional<GroupRow> b;
  bool in_a = false;  // true: trace A has the group
  bool in_b = false;
};
struct DiffTable {
  Allocator allocator = Allocator::slab;
  std::vector<DiffRow> rows;  // unsorted; views sort and limit them
  bool knows_a = true;  // false: trace A has no allocations of the allocator, and its values are unknown in all rows
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

// Limits of noise. Counts of independent events vary by their square root. Kernel events occur in bursts and vary more.
// So a change above the limits is not a proof, and a change below them is not reported.
struct Noise {
  static constexpr double kDeviations = 3;
  double percent = 5;  // smaller changes do not count; for percentages, in percentage points
  // Least number of events on which a value is based, in any trace; for means and shares, in both traces.
  std::uint64_t least_count = 10;
};

enum class Verdict : std::uint8_t {
  unknown,  // one trace lacks the value
  unchanged,
  changed,
};
struct Change {
  std::optional<double> a;  // value; divided by the basis if the column counts events
  std::optional<double> b;
  std::optional<double> difference;  // b - a
  std::optional<double> percent;     // change in percent of `a`; empty if `a` is 0
  Verdict verdict = Verdict::unknown;
};

// Returns the columns of group_columns() that can be compared.
std::vector<const Column<GroupRow>*> diff_columns();
// True if the column counts events and therefore grows with the length of a trace. Live memory, means and shares do not
// grow.
bool grows_with_time(const Column<GroupRow>& column);
// True if smaller values are better: bytes, waste, failures, and cache lines that move between CPUs. Other columns are
// neutral.
bool less_is_better(const Column<GroupRow>& column);

Change change_of(const DiffRow& row, const Column<GroupRow>& column, const DiffBasis& basis, const Noise& noise);

// The rows of a table, divided by the change of a column. Changed rows are sorted by the size of the change, largest
// first.
struct DiffOrder {
  std::vector<const DiffRow*> changed;
  std::vector<const DiffRow*> unchanged;
  std::vector<const DiffRow*> unknown;
};
DiffOrder ordered_rows(const DiffTable& table, const Column<GroupRow>& column, const DiffBasis& basis,
                       const Noise& noise);

// Returns one row with the sums of both sides.
DiffRow sum_of(std::span<const DiffRow* const> rows, std::string_view name);

}  // namespace kmt
