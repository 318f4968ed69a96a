// SPDX-License-Identifier: GPL-2.0-or-later
// Bounds the number of names that are exported, without a counter that ever goes back.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "results/heap/exported_series.hpp"
#include "results/heap/top.hpp"

namespace kmt {

class ExportedSeries {
 public:
  // At most that many names beside "other".
  explicit ExportedSeries(std::size_t most_names) : most_(most_names) {}

  // The rows of one interval, of any order. Names that allocate or hold most get rows of their own, from then on; who
  // has done nothing for some hundred intervals and holds nothing loses it again.
  void add(const std::vector<TopRow>& rows);
  // By name, "other" last.
  std::vector<ExportedRow> rows() const;

 private:
  struct Series {
    std::uint64_t events = 0;
    std::uint64_t bytes = 0;
    double live_bytes = 0;
    std::uint64_t seen = 0;  // interval in which it was last active
  };

  void remove_idle();

  std::size_t most_;
  std::uint64_t interval_ = 0;
  std::unordered_map<std::string, Series> series_;
  Series other_;
};

}  // namespace kmt
