// SPDX-License-Identifier: GPL-2.0-or-later
// Limits the number of names exported to a monitoring system. The counters of an exported name never decrease.
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
  // maximum number of names, not counting "other"
  explicit ExportedSeries(std::size_t most_names) : most_(most_names) {}

  // Adds the rows of one interval, in any order. Names that allocate or hold the most memory get rows of their own and
  // keep them. All other names share the row "other". A name loses its row if it has no live bytes and has not
  // allocated for several hundred intervals.
  void add(const std::vector<TopRow>& rows);
  // Returns the rows in the order of their names. The row "other" is last.
  std::vector<ExportedRow> rows() const;

 private:
  struct Series {
    std::uint64_t events = 0;
    std::uint64_t bytes = 0;
    double live_bytes = 0;
    std::uint64_t seen = 0;  // number of the last interval in which the name allocated
  };

  void remove_idle();

  std::size_t most_;
  std::uint64_t interval_ = 0;
  std::unordered_map<std::string, Series> series_;
  Series other_;
};

}  // namespace kmt
