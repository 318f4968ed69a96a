// SPDX-License-Identifier: GPL-2.0-or-later
// Assigns IDs to distinct keys, such as the values by which a report groups. A key is an array of words. The IDs are
// consecutive numbers from 0, in order of appearance.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/arithmetic/wide.hpp"
#include "base/flat_map.hpp"

namespace kmt {

template <typename Key>
class InternTable {
  static_assert(std::has_unique_object_representations_v<Key> && sizeof(Key) % sizeof(std::uint64_t) == 0);

 public:
  std::size_t size() const { return keys_.size(); }
  const Key& operator[](std::uint32_t id) const { return keys_[id]; }

  // Returns the ID of the key, and true if the key is new.
  std::pair<std::uint32_t, bool> id_of(const Key& key) {
    if (keys_.size() * 2 >= slots_.size()) grow();
    std::uint32_t& slot = slots_[place_of(key)];
    if (slot != kEmpty) return {slot, false};
    slot = static_cast<std::uint32_t>(keys_.size());
    keys_.push_back(key);
    return {slot, true};
  }

  std::optional<std::uint32_t> find(const Key& key) const {
    if (slots_.empty()) return std::nullopt;
    const std::uint32_t id = slots_[place_of(key)];
    return id == kEmpty ? std::nullopt : std::optional(id);
  }

 private:
  static constexpr std::uint32_t kEmpty = ~0u;
  static constexpr std::size_t kWords = sizeof(Key) / 8;

  static std::uint64_t hash(const Key& key) {
    std::array<std::uint64_t, kWords> words;
    std::memcpy(words.data(), &key, sizeof key);
    std::uint64_t state = kHashSeed;
    for (const std::uint64_t word : words) {
      const Wide product = Wide{word ^ state} * 0x9E3779B97F4A7C15ull;
      state = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
    }
    return state;
  }

  // Returns the slot that contains the key or, if there is none, the empty slot for the key.
  std::size_t place_of(const Key& key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = static_cast<std::size_t>(hash(key) >> 7) & mask;
    while (slots_[at] != kEmpty && std::memcmp(&keys_[slots_[at]], &key, sizeof(Key)) != 0) at = (at + 1) & mask;
    return at;
  }

  void grow() {
    slots_.assign(slots_.empty() ? 64 : slots_.size() * 2, kEmpty);
    for (std::size_t id = 0; id < keys_.size(); ++id) slots_[place_of(keys_[id])] = static_cast<std::uint32_t>(id);
  }

  std::vector<Key> keys_;
  std::vector<std::uint32_t> slots_;
};

}  // namespace kmt
