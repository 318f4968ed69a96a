// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/report/diff.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace kmt {

namespace {

using GroupColumn = Column<GroupRow>;

// True for values at one point in time: live counts, live bytes and peaks. Other columns are event counts or ratios.
bool is_level(const GroupColumn& column) {
  return column.key == "live" || column.key == "live-bytes" || column.key == "peak";
}
bool is_ratio(const GroupColumn& column) {
  return column.unit == Unit::percent || column.unit == Unit::duration || column.key == "size";
}

std::optional<double> value_of(const std::optional<GroupRow>& row, const GroupColumn& column) {
  if (!row) return std::nullopt;
  const Cell cell = column.get(*row);
  if (const auto* number = std::get_if<std::uint64_t>(&cell)) return static_cast<double>(*number);
  if (const auto* decimal = std::get_if<double>(&cell)) return *decimal;
  return std::nullopt;
}

// Returns the share of lifetimes above the percentile in this column, such as 0.01 for the 99th percentile.
double tail_of(const GroupColumn& column) {
  if (column.key == "p50-life") return 0.5;
  if (column.key == "p90-life") return 0.1;
  return column.key == "p99-life" ? 0.01 : 1;
}

// Returns the number of events from which a column's value is computed.
double evidence(const std::optional<GroupRow>& row, const GroupColumn& column) {
  if (!row) return 0;
  if (column.unit == Unit::duration) return static_cast<double>(row->lifetimes.count()) * tail_of(column);
  if (column.unit == Unit::count) return value_of(row, column).value_or(0);
  if (column.key == "live-bytes") return static_cast<double>(row->live_allocations);
  if (column.key == "freed") return static_cast<double>(row->matched_frees);
  if (column.key == "peak" && row->bytes_allocated > 0)
    return static_cast<double>(row->peak_bytes.value_or(0)) * static_cast<double>(row->allocations) /
           static_cast<double>(row->bytes_allocated);
  return static_cast<double>(row->allocations);
}

// Returns the standard deviation of b - a, assuming that both traces count the same random process. A trace has n
// events of equal value in an exposure e: a time, or a number of other events. For a rate r, the variance is r/e. If
// the exposure is also a count, r²/e is added.
double deviation_of_counts(double value, double n, double ea, double eb, bool exposure_is_count) {
  if (n == 0) return 0;
  const double rate = n / (ea + eb);
  const double inverse = 1 / ea + 1 / eb;
  const double variance = rate * inverse + (exposure_is_count ? rate * rate * inverse : 0);
  return value / n * std::sqrt(variance);
}

bool beyond_noise(const DiffRow& row, const GroupColumn& column, const Change& change, const DiffBasis& basis,
                  const Noise& noise) {
  const double a = *change.a;
  const double b = *change.b;
  const double difference = std::abs(b - a);
  if (difference == 0) return false;
  const bool in_points = column.unit == Unit::percent;
  if (difference < noise.percent / 100 * (in_points ? 100 : std::max(a, b))) return false;
  const double na = evidence(row.a, column);
  const double nb = evidence(row.b, column);
  if (is_ratio(column)) {
    if (std::min(na, nb) < static_cast<double>(noise.least_count)) return false;
    if (column.key == "mean-life") return difference > Noise::kDeviations * std::sqrt(a * a / na + b * b / nb);
    constexpr double kBucket = 0.25;  // relative precision of percentiles, because histogram buckets have this width
    return column.unit != Unit::duration || difference > kBucket * std::max(a, b);
  }
  if (std::max(na, nb) < static_cast<double>(noise.least_count)) return false;
  const bool divided = grows_with_time(column);
  const double ea = divided ? basis.a : 1;
  const double eb = divided ? basis.b : 1;
  const bool exposure_is_count = divided && basis.per == DiffPer::event;
  return difference > Noise::kDeviations * deviation_of_counts(a * ea + b * eb, na + nb, ea, eb, exposure_is_count);
}

std::optional<GroupRow> sum_of_side(std::span<const DiffRow* const> rows, std::optional<GroupRow> DiffRow::*side) {
  std::vector<const GroupRow*> parts;
  for (const DiffRow* row : rows)
    if (row->*side) parts.push_back(&*(row->*side));
  if (parts.empty()) return std::nullopt;
  return sum_of(parts, "");
}

}  // namespace

std::vector<const GroupColumn*> diff_columns() {
  std::vector<const GroupColumn*> columns;
  for (const GroupColumn& column : group_columns()) {
    if (column.needs_window) continue;
    if (column.unit == Unit::count || column.unit == Unit::bytes || column.unit == Unit::percent ||
        column.unit == Unit::duration)
      columns.push_back(&column);
  }
  return columns;
}

bool grows_with_time(const GroupColumn& column) { return !is_level(column) && !is_ratio(column); }

bool less_is_better(const GroupColumn& column) {
  if (column.unit == Unit::bytes) return column.key != "freed";
  return column.unit == Unit::percent || column.key == "failed" || column.key == "pingpong" ||
         column.key == "cross-node" || column.key == "live";
}

Change change_of(const DiffRow& row, const GroupColumn& column, const DiffBasis& basis, const Noise& noise) {
  Change change{value_of(row.a, column), value_of(row.b, column), {}, {}};
  if (grows_with_time(column)) {
    if (change.a) *change.a /= basis.a;
    if (change.b) *change.b /= basis.b;
  }
  if (!change.a || !change.b) return change;
  change.difference = *change.b - *change.a;
  if (*change.a != 0) change.percent = 100 * *change.difference / *change.a;
  change.verdict = beyond_noise(row, column, change, basis, noise) ? Verdict::changed : Verdict::unchanged;
  return change;
}

DiffOrder ordered_rows(const DiffTable& table, const GroupColumn& column, const DiffBasis& basis, const Noise& noise) {
  DiffOrder order;
  std::vector<std::pair<double, const DiffRow*>> changed;
  for (const DiffRow& row : table.rows) {
    const Change change = change_of(row, column, basis, noise);
    if (change.verdict == Verdict::changed)
      changed.emplace_back(std::abs(*change.difference), &row);
    else
      (change.verdict == Verdict::unchanged ? order.unchanged : order.unknown).push_back(&row);
  }
  std::sort(changed.begin(), changed.end(), [](const auto& x, const auto& y) {
    return std::tie(y.first, x.second->name) < std::tie(x.first, y.second->name);
  });
  for (const auto& [size, row] : changed) order.changed.push_back(row);
  return order;
}

DiffRow sum_of(std::span<const DiffRow* const> rows, std::string_view name) {
  const auto in = [rows](bool DiffRow::*side) {
    return std::any_of(rows.begin(), rows.end(), [side](const DiffRow* row) { return row->*side; });
  };
  return {{},
          std::string(name),
          sum_of_side(rows, &DiffRow::a),
          sum_of_side(rows, &DiffRow::b),
          in(&DiffRow::in_a),
          in(&DiffRow::in_b)};
}

}  // namespace kmt
