// SPDX-License-Identifier: GPL-2.0-or-later
// Ids of what repeats in a trace; each is an index into a table of TraceInfo, given in order of appearance.
#pragma once

#include <cstdint>

namespace kmt {

// Ids that do not convert into each other.
template <typename Tag, typename Int>
struct StrongId {
  Int value = 0;
  friend bool operator==(StrongId, StrongId) = default;
};

using EventTypeId = StrongId<struct EventTypeTag, std::uint16_t>;  // TraceTables::event_types
using CallSiteId = StrongId<struct CallSiteTag, std::uint32_t>;    // TraceTables::call_sites; 0 is "none"
using CacheId = StrongId<struct CacheTag, std::uint32_t>;          // TraceTables::cache_names; 0 is "none"
using StackId = StrongId<struct StackTag, std::uint32_t>;          // TraceTables::stacks; 0 is "none"

}  // namespace kmt
