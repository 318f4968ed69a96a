// SPDX-License-Identifier: GPL-2.0-or-later
// Remembers the origins of recent allocations, so that most allocations need no look-up by the keys of a report.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/arithmetic/size.hpp"
#include "trace/event.hpp"

namespace kmt {

// The fields that most events of a call site repeat: all except time, address, task, CPU and type.
using CallShape = std::array<std::uint64_t, 5>;

inline CallShape shape_of(const Event& event) {
  constexpr std::size_t kSizes = offsetof(Event, bytes_requested);
  constexpr std::size_t kKind = offsetof(Event, kind);
  static_assert(kSizes + 24 == offsetof(Event, call_site) && kKind + 8 == sizeof(Event));
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&event);
  const auto word = [bytes](std::size_t at) {
    std::uint64_t value;
    std::memcpy(&value, bytes + at, sizeof value);
    return value;
  };
  return {word(kSizes), word(kSizes + 8), word(kSizes + 16),
          event.call_site.value | std::uint64_t{event.cache.value} << 32, word(kKind)};
}

class RecentOrigins {
 public:
  struct Key {
    CallShape shape;
    std::array<std::uint32_t, 3> tasks;  // rows in TaskRows; 0 if no key of the report needs them
    std::uint32_t cpu;                   // 0 if no key of the report needs it
  };

  // Returns the place for the origin of this key. The place contains 0 if no origin is stored. The caller then stores
  // the origin there.
  std::uint32_t& of(const Key& key) {
    Place& place = places_[place_of(key)];
    if (!is_equal(place.key, key)) place = {key, 0};
    return place.origin;
  }
  void forget() { places_.assign(places_.size(), {}); }

 private:
  struct Place {
    Key key;
    std::uint32_t origin;
  };
  static constexpr unsigned kBits = 11;  // few enough places to stay in the CPU's cache

  static bool is_equal(const Key& a, const Key& b) {
    std::uint64_t differences = a.cpu ^ b.cpu;
    for (std::size_t i = 0; i < a.shape.size(); ++i) differences |= a.shape[i] ^ b.shape[i];
    for (std::size_t i = 0; i < a.tasks.size(); ++i) differences |= a.tasks[i] ^ b.tasks[i];
    return differences == 0;
  }
  static std::size_t place_of(const Key& key) {
    const CallShape& shape = key.shape;
    const std::uint64_t call = shape[3] ^ shape[0] << 20 ^ shape[1] << 40 ^ std::uint64_t{key.cpu} << 52;
    const std::uint64_t task = key.tasks[0] ^ std::uint64_t{key.tasks[1]} << 16 ^ std::uint64_t{key.tasks[2]} << 32;
    const std::uint64_t mixed = (call * 0x9E3779B97F4A7C15ull ^ shape[2] ^ shape[4] ^ task) * 0xD6E8FEB86659FD93ull;
    return to_size(mixed >> (64 - kBits));
  }

  std::vector<Place> places_{std::size_t{1} << kBits};
};

}  // namespace kmt
