// SPDX-License-Identifier: GPL-2.0-or-later
// Sorts allocations into four classes by a time window: when they were made, and when they were freed.
#pragma once

#include <array>
#include <cstdint>

#include "results/report/live_count.hpp"
#include "trace/event.hpp"

namespace kmt {

// All allocations are of the trace: memory from before the trace is in no class.
struct WindowClasses {
  LiveCount left_live;     // allocated in the window, live at its end
  LiveCount freed_inside;  // allocated and freed in the window
  LiveCount freed_older;   // allocated before the window, freed in it
  LiveCount throughout;    // allocated before the window, live at its end

  static const std::array<LiveCount WindowClasses::*, 4> kFields;

  LiveCount live_at_start() const { return freed_older + throughout; }
  LiveCount live_at_end() const { return left_live + throughout; }

  friend bool operator==(const WindowClasses&, const WindowClasses&) = default;
  WindowClasses& operator+=(const WindowClasses& other) {
    for (const auto field : kFields) this->*field += other.*field;
    return *this;
  }
};

inline constexpr std::array<LiveCount WindowClasses::*, 4> WindowClasses::kFields = {
    &WindowClasses::left_live, &WindowClasses::freed_inside, &WindowClasses::freed_older, &WindowClasses::throughout};

// A time window on the clock of the trace.
struct WindowRange {
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = ~std::uint64_t{0};  // exclusive; the largest value: until the end of the trace
};

struct ReportWindow {
  WindowRange range;
  std::array<WindowClasses, kAllocators> totals;  // index: Allocator
};

}  // namespace kmt
