// SPDX-License-Identifier: GPL-2.0-or-later
// Finds out whether the kernel charges an allocation to a memory control group.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/event.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

enum class Charge : std::uint8_t { unknown, no, yes };

class Charging {
 public:
  // `info` must outlive this object.
  explicit Charging(const TraceInfo& info) : info_(info) {}

  // Returns whether the allocation is charged. Uses the field `accounted` of the event if there is one, and otherwise
  // the GFP flags. The flags alone never show that memory is not charged: the cache of an object may have SLAB_ACCOUNT,
  // and the kernel charges user memory and page cache in a later step.
  Charge charge_of(const Event& event);

 private:
  void learn_flags();

  const TraceInfo& info_;
  std::vector<std::uint64_t> account_flags_;  // flags that have __GFP_ACCOUNT, as bits of Event::gfp_flags
  std::size_t names_ = 0;                     // number of names of flags that learn_flags() has read
};

}  // namespace kmt
