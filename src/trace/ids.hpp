// SPDX-License-Identifier: GPL-2.0-or-later
// IDs of data that occurs in many events of a trace. An ID is an index into a table of TraceInfo, in order of first
// appearance.
#pragma once

#include <cstdint>

namespace kmt {

// An ID. IDs with different tags are different types, which cannot be converted into each other.
template <typename Tag, typename Int>
struct StrongId {
  Int value = 0;
  friend bool operator==(StrongId, StrongId) = default;
};

using EventTypeId = StrongId<struct EventTypeTag, std::uint16_t>;  // TraceTables::event_types
using CallSiteId = StrongId<struct CallSiteTag, std::uint32_t>;    // index into TraceTables::call_sites; 0 is "none"
using CacheId = StrongId<struct CacheTag, std::uint32_t>;          // index into TraceTables::cache_names; 0 is "none"
using StackId = StrongId<struct StackTag, std::uint32_t>;          // index into TraceTables::stacks; 0 is "none"

}  // namespace kmt
