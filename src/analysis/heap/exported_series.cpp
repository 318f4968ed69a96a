// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/heap/exported_series.hpp"

#include <algorithm>

namespace kmt {

namespace {

constexpr std::uint64_t kIdleIntervals = 600;
constexpr const char* kOther = "other";

double weight_of(const TopRow& row) {
  return static_cast<double>(row.bytes_now) + (row.live_bytes ? row.live_bytes->value : 0);
}

}  // namespace

void ExportedSeries::remove_idle() {
  std::erase_if(series_, [this](const auto& entry) {
    return entry.second.live_bytes <= 0 && interval_ - entry.second.seen > kIdleIntervals;
  });
}

void ExportedSeries::add(const std::vector<TopRow>& rows) {
  ++interval_;
  for (auto& [name, series] : series_) series.live_bytes = 0;
  other_.live_bytes = 0;
  std::vector<const TopRow*> by_weight;
  by_weight.reserve(rows.size());
  for (const TopRow& row : rows) by_weight.push_back(&row);
  std::ranges::sort(by_weight, [](const TopRow* a, const TopRow* b) {
    return weight_of(*a) != weight_of(*b) ? weight_of(*a) > weight_of(*b) : a->name < b->name;
  });
  for (const TopRow* const row : by_weight) {
    auto found = series_.find(row->name);
    if (found == series_.end() && series_.size() < most_ && weight_of(*row) > 0)
      found = series_.try_emplace(row->name).first;
    Series& series = found == series_.end() ? other_ : found->second;
    series.events += row->events_now;
    series.bytes += row->bytes_now;
    series.live_bytes += row->live_bytes ? row->live_bytes->value : 0;
    if (row->events_now > 0) series.seen = interval_;
  }
  remove_idle();
}

std::vector<ExportedRow> ExportedSeries::rows() const {
  std::vector<ExportedRow> rows;
  for (const auto& [name, series] : series_) rows.push_back({name, series.events, series.bytes, series.live_bytes});
  std::ranges::sort(rows, {}, &ExportedRow::name);
  rows.push_back({kOther, other_.events, other_.bytes, other_.live_bytes});
  return rows;
}

}  // namespace kmt
