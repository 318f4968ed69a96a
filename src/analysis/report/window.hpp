// SPDX-License-Identifier: GPL-2.0-or-later
// Counts the allocations of each group by their class in a time window (results/report/window.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/matching/event_filter.hpp"
#include "results/report/window.hpp"

namespace kmt {

class WindowCounts {
 public:
  explicit WindowCounts(TimeWindow window) : window_(window) {}
  // Sets the time of the trace's first event, to which relative times refer. Call this function before all others.
  // Throws Error if the window ends before it starts.
  void begin(std::uint64_t first_ns);
  // Counts an allocation, or a part of it, that was allocated at `began_ns` and ended at `ended_ns`.
  void add(Allocator allocator, std::uint32_t group, const LiveCount& amount, std::uint64_t began_ns,
           std::uint64_t ended_ns);
  // Counts an allocation, or a part of it, that is live at the end of the trace.
  void add_live(Allocator allocator, std::uint32_t group, const LiveCount& amount, std::uint64_t began_ns) {
    add(allocator, group, amount, began_ns, ~std::uint64_t{0});
  }

  const ReportWindow& sums() const { return sums_; }
  WindowClasses of_group(std::uint32_t group) const {
    return group < groups_.size() ? groups_[group] : WindowClasses{};
  }

 private:
  TimeWindow window_;
  ReportWindow sums_;
  std::vector<WindowClasses> groups_;
};

}  // namespace kmt
