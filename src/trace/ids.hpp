// SPDX-License-Identifier: GPL-2.0-or-later
// IDs of data that many events of a trace share, such as call sites and stacks. An ID is an index into a table of
// TraceInfo. IDs are assigned in order of first appearance.
#pragma once

#include <cstdint>

namespace kmt {

// An ID. IDs with different tags are different types and cannot be converted into each other.
template <typename Tag, typename Int>
struct StrongId {
  Int value = 0;
  friend bool operator==(StrongId, StrongId) = default;
};

using EventTypeId = StrongId<struct EventTypeTag, std::uint16_t>;  // index into TraceTables::event_types
using CallSiteId = StrongId<struct CallSiteTag, std::uint32_t>;    // index into TraceTables::call_sites; 0 is "none"
using CacheId = StrongId<struct CacheTag, std::uint32_t>;          // index into TraceTables::cache_names; 0 is "none"
using StackId = StrongId<struct StackTag, std::uint32_t>;          // index into TraceTables::stacks; 0 is "none"

}  // namespace kmt
