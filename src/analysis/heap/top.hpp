// SPDX-License-Identifier: GPL-2.0-or-later
// Accumulates data about the running kernel: exact sums of sites for each interval, and samples.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/heap/profile.hpp"
#include "results/heap/top.hpp"

namespace kmt {

class TopAccount {
 public:
  // Maximum number of rows of each view. Without a maximum, rows of processes that have ended would accumulate.
  static constexpr std::size_t kMostRows = 20000;

  // Keeps rows for these views. The other arguments have the same meaning as in HeapProfile. If `mean_bytes` is 0,
  // there are no samples, and live bytes are unknown.
  TopAccount(std::vector<TopView> views, std::uint64_t mean_bytes, const SymbolNames& symbols,
             std::function<std::string(std::uint64_t)> cgroup_name);

  HeapProfile& samples() { return profile_; }
  // Adds the sums of the interval that has just ended.
  void add_interval(std::vector<HeapSite> sites, std::uint64_t interval_ns);
  // Returns one view, unsorted. The view net has no rows. The caller fills in the members that need other sources.
  TopResult result(TopView view) const;
  // Returns the stacks of each row of a view. The key is the name of the row. The stacks of a row are sorted by
  // allocated bytes.
  std::unordered_map<std::string, std::vector<TopRow>> stacks(TopView view) const;

 private:
  struct Sums {
    std::uint64_t events_now = 0, bytes_now = 0, events = 0, failed = 0, requested = 0, allocated = 0;
    std::uint64_t page_bytes_now = 0, page_bytes = 0;  // the part of the bytes that is in pages
    std::uint64_t interval = 0;                        // number of the last interval in which the row had events
    std::uint32_t process = 0;                         // 0: the row belongs to no process
    std::string comm;                                  // first name of the process

    void add(const Sums& more);
  };
  using Rows = std::unordered_map<std::string, Sums>;  // key: name of the row, or the process ID

  void name_processes(const std::vector<HeapSite>& sites);
  std::string key_in(TopView view, const HeapSite& site) const;
  std::string row_name(TopView view, const std::string& key) const;
  void add_live(std::vector<TopRow>& rows, const std::unordered_map<std::string, std::size_t>& places,
                const HeapProfileResult& samples, TopView view) const;
  TopResult result_of_owners(TopView view) const;
  std::string name_of_stack(const HeapRow& row) const;
  void add(TopView view, const HeapSite& site);
  void fold_oldest(Rows& rows);

  std::vector<TopView> views_;  // views with counted rows
  const SymbolNames& symbols_;
  std::function<std::string(std::uint64_t)> cgroup_name_;
  bool has_samples_;
  HeapProfile profile_;
  std::array<Rows, kTopViews> rows_;  // index: view; empty for views that are computed from others
  TopTotals slab_;
  TopTotals pages_;
  std::uint64_t interval_ = 0;
  std::uint64_t interval_ns_ = 0;
  std::uint64_t rows_merged_ = 0;
};

}  // namespace kmt
