// SPDX-License-Identifier: GPL-2.0-or-later
// An open-addressing hash map from 64-bit keys (addresses, page frames) to small plain values, for the tables that
// every event uses. It uses linear probing and is at most 4/5 full. Deletion shifts entries back, so that repeated
// allocations and frees leave no tombstones. Each key is next to its value in one flat array, so a look-up usually
// needs one cache line. When a large table is full, it grows by a fifth, so it is always at least 2/3 full. This saves
// memory, because traces with many live objects need large tables.
//
// No library has a suitable map. The flat map of Boost 1.81 is the only faster one in Debian 12, but it conflicts
// with Debian's default Boost development package. Other maps need two to three times the memory per entry.
//
// References and pointers to values are valid until the next insertion or erasure.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/arithmetic/wide.hpp"

namespace kmt {

// Part of the hash. It is random in each run, so that the author of a trace cannot choose addresses that all hash to
// one slot.
extern const std::uint64_t kHashSeed;

template <typename Value>
class FlatMap {
  static_assert(std::is_trivially_copyable_v<Value>);

 public:
  using Key = std::uint64_t;

  std::size_t size() const { return size_ + (has_empty_key_ ? 1 : 0); }

  Value* find(Key key) {
    if (key == kEmpty) return has_empty_key_ ? &empty_key_value_ : nullptr;
    if (size_ == 0) return nullptr;
    for (std::size_t at = slot_of(key);; at = after(at)) {
      if (slots_[at].key == key) return &slots_[at].value;
      if (slots_[at].key == kEmpty) return nullptr;
    }
  }
  const Value* find(Key key) const { return const_cast<FlatMap*>(this)->find(key); }

  // Returns the value of the key, and true if the key was inserted. A new value is value-initialised.
  std::pair<Value*, bool> insert(Key key) {
    return insert(key, [] {});
  }
  // Inserts a key. If the table is full, first calls make_room(), which may remove entries with retain(). Always
  // inlined, because the compiler would otherwise call a function for each event.
  template <typename MakeRoom>
  [[gnu::always_inline]] inline std::pair<Value*, bool> insert(Key key, MakeRoom&& make_room) {
    if (key == kEmpty) {
      const bool inserted = !std::exchange(has_empty_key_, true);
      if (inserted) empty_key_value_ = Value{};
      return {&empty_key_value_, inserted};
    }
    if (count_ == 0) grow();
    std::size_t at = slot_of(key);
    while (slots_[at].key != key) {
      if (slots_[at].key == kEmpty) return {insert_new(key, at, make_room), true};
      at = after(at);
    }
    return {&slots_[at].value, false};
  }

  bool erase(Key key) { return take(key).has_value(); }
  // Erases a key and returns its value. Empty if the map does not contain the key.
  std::optional<Value> take(Key key) {
    if (key == kEmpty) return std::exchange(has_empty_key_, false) ? std::optional(empty_key_value_) : std::nullopt;
    if (size_ == 0) return std::nullopt;
    std::size_t at = slot_of(key);
    while (slots_[at].key != key) {
      if (slots_[at].key == kEmpty) return std::nullopt;
      at = after(at);
    }
    const Value taken = slots_[at].value;
    // Fills the gap: shifts the following entries back, each no further than the slot that its hash selects.
    for (std::size_t next = after(at); slots_[next].key != kEmpty; next = after(next)) {
      if (distance(slot_of(slots_[next].key), next) >= distance(at, next)) {
        slots_[at] = slots_[next];
        at = next;
      }
    }
    slots_[at].key = kEmpty;
    --size_;
    return taken;
  }

  // Keeps the entries for which keep(key, value) is true. The capacity does not change.
  template <typename Keep>
  void retain(Keep&& keep) {
    if (has_empty_key_ && !keep(kEmpty, empty_key_value_)) has_empty_key_ = false;
    rebuild(count_, keep);
  }

  // Prefetches the cache line of a key that will be looked up soon. Always inlined, because g++ 12 removes calls of a
  // function that only prefetches.
  [[gnu::always_inline]] void prefetch(Key key) const {
    if (slots_) __builtin_prefetch(&slots_[slot_of(key)]);
  }

  template <typename Visit>
  void for_each(Visit&& visit) const {
    if (has_empty_key_) visit(kEmpty, empty_key_value_);
    for (std::size_t at = 0; at < count_; ++at)
      if (slots_[at].key != kEmpty) visit(slots_[at].key, slots_[at].value);
  }

 private:
  struct Slot {
    Key key;
    Value value;
  };
  static constexpr Key kEmpty = std::numeric_limits<Key>::max();

  // Every bit of the key affects the top bits, which select the slot. A single multiplication is not enough, because
  // addresses differ in few bits. Many of them would get adjacent slots, and a look-up would visit three slots instead
  // of two.
  std::size_t slot_of(Key key) const {
    std::uint64_t hash = (key ^ kHashSeed) * 0x9E3779B97F4A7C15ull;
    hash = (hash ^ hash >> 32) * 0xD6E8FEB86659FD93ull;
    return static_cast<std::size_t>(static_cast<std::uint64_t>((Wide{hash} * count_) >> 64));
  }
  // A separate function that is not inlined, so that look-ups of existing keys stay fast.
  template <typename MakeRoom>
  [[gnu::noinline]] Value* insert_new(Key key, std::size_t at, MakeRoom&& make_room) {
    if (size_ >= limit_) {
      make_room();
      if (size_ >= limit_) grow();
      at = slot_of(key);
      while (slots_[at].key != kEmpty) at = after(at);
    }
    slots_[at] = {key, Value{}};
    ++size_;
    return &slots_[at].value;
  }

  std::size_t after(std::size_t at) const { return at + 1 == count_ ? 0 : at + 1; }
  std::size_t distance(std::size_t from, std::size_t to) const { return to >= from ? to - from : to + count_ - from; }

  void grow() {
    constexpr std::size_t kLarge = 4096;
    const std::size_t count = count_ == 0 ? 64 : count_ < kLarge ? count_ * 2 : count_ + count_ / 5;
    rebuild(count, [](Key, const Value&) { return true; });
  }

  template <typename Keep>
  void rebuild(std::size_t count, Keep&& keep) {
    if (count == 0) return;
    const std::size_t old_count = std::exchange(count_, count);
    const std::unique_ptr<Slot[]> old = std::exchange(slots_, std::make_unique_for_overwrite<Slot[]>(count));
    for (std::size_t i = 0; i < count; ++i) slots_[i].key = kEmpty;
    limit_ = count / 5 * 4;
    size_ = 0;
    for (std::size_t i = 0; i < old_count; ++i) {
      if (old[i].key == kEmpty || !keep(old[i].key, old[i].value)) continue;
      std::size_t at = slot_of(old[i].key);
      while (slots_[at].key != kEmpty) at = after(at);
      slots_[at] = old[i];
      ++size_;
    }
  }

  std::unique_ptr<Slot[]> slots_;
  std::size_t count_ = 0;  // number of slots
  std::size_t size_ = 0;
  std::size_t limit_ = 0;
  bool has_empty_key_ = false;  // true if the map contains the key kEmpty, whose value is stored in empty_key_value_
  Value empty_key_value_{};
};

}  // namespace kmt
