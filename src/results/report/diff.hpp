// SPDX-License-Identifier: GPL-2.0-or-later
// The result of `diff`: two reports, group by group, and changes between them beyond noise.
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

// The divisor of counts, so that traces of different length can be compared.
enum class DiffPer : std::uint8_t { trace, second, event };
struct DiffBasis {
  DiffPer per = DiffPer::trace;
  std::string event;  // DiffPer::event: which
  double a = 1;       // seconds, or how often the event occurred; 1 where counts stay as they are
  double b = 1;
  std::string why;  // "one lasts longer than the other"
};

// Groups of both traces that have the same name. A trace without such a group has zeros where it would tell of one:
// nothing is known where it holds no allocation of the allocator, nor cross-node frees or bytes where no group has
// them.
struct DiffRow {
  std::vector<KeyValue> keys;  // none of a sum
  std::string name;
  std::optional<GroupRow> a;  // empty: not known
  std::optional<GroupRow> b;
  bool in_a = false;  // whether the trace has such a group
  bool in_b = false;
};
struct DiffTable {
  Allocator allocator = Allocator::slab;
  std::vector<DiffRow> rows;  // unsorted; views sort and cut
  bool knows_a = true;        // false: that side holds no allocation of the allocator, and no row knows of it
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

// Limits of noise. Counts of independent events vary by their square root. Kernel events come in bursts and vary more:
// a change above the limits is no proof, one below them is not reported.
struct Noise {
  static constexpr double kDeviations = 3;
  double percent = 5;              // a smaller change is none; of percentages, points
  std::uint64_t least_count = 10;  // events that a value is based on, in either trace; for means and shares, in both
};

enum class Verdict : std::uint8_t {
  unknown,  // one trace does not say
  unchanged,
  changed,
};
struct Change {
  std::optional<double> a;  // divided by the basis where the column counts what happens
  std::optional<double> b;
  std::optional<double> difference;  // b - a
  std::optional<double> percent;     // of a; empty where that is 0
  Verdict verdict = Verdict::unknown;
};

// The comparable columns, a part of group_columns().
std::vector<const Column<GroupRow>*> diff_columns();
// True if the column counts events, and so grows with the length of a trace. Live memory, means and shares do not.
bool grows_with_time(const Column<GroupRow>& column);
// Whether less of it is better: bytes, waste, failures, travelling cache lines. Others are neither good nor bad.
bool less_is_better(const Column<GroupRow>& column);

Change change_of(const DiffRow& row, const Column<GroupRow>& column, const DiffBasis& basis, const Noise& noise);

// The rows of a table by what became of a column: those that changed by the size of the change, the largest first.
struct DiffOrder {
  std::vector<const DiffRow*> changed;
  std::vector<const DiffRow*> unchanged;
  std::vector<const DiffRow*> unknown;
};
DiffOrder ordered_rows(const DiffTable& table, const Column<GroupRow>& column, const DiffBasis& basis,
                       const Noise& noise);

// One row that adds up both sides.
DiffRow sum_of(std::span<const DiffRow* const> rows, std::string_view name);

}  // namespace kmt
