// SPDX-License-Identifier: GPL-2.0-or-later
// Limits the number of exported names. The counter of a name never decreases.
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
  // `most_names` does not include "other".
  explicit ExportedSeries(std::size_t most_names) : most_(most_names) {}

  // Adds the rows of one interval, in any order. The names that allocate or hold most get their own rows and keep them.
  // A name loses its row if it holds nothing and was idle for some hundred intervals.
  void add(const std::vector<TopRow>& rows);
  // Returns rows by name; "other" is last.
  std::vector<ExportedRow> rows() const;

 private:
  struct Series {
    std::uint64_t events = 0;
    std::uint64_t bytes = 0;
    double live_bytes = 0;
    std::uint64_t seen = 0;  // last interval with activity
  };

  void remove_idle();

  std::size_t most_;
  std::uint64_t interval_ = 0;
  std::unordered_map<std::string, Series> series_;
  Series other_;
};

}  // namespace kmt
