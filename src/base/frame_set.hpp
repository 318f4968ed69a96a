// SPDX-License-Identifier: GPL-2.0-or-later
// An ordered set of page frame numbers: a sparse bit set of two hash tables of 64-bit words and an ordered map on top.
// insert and erase need one to three look-ups, floor (the largest member that is not above a frame) up to five. Memory
// depends on the number of members, not on the width of a range, so a hostile trace cannot exhaust it.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <optional>

#include "base/flat_map.hpp"

namespace kmt {

class FrameSet {
 public:
  void insert(std::uint64_t frame) {
    if (set_bit(*leaves_.insert(frame >> 6).first, frame)) return;
    if (set_bit(*middle_.insert(frame >> 12).first, frame >> 6)) return;
    set_bit(top_[frame >> 18], frame >> 12);
  }

  void erase(std::uint64_t frame) {
    if (!clear_bit(leaves_, frame >> 6, frame)) return;
    if (!clear_bit(middle_, frame >> 12, frame >> 6)) return;
    const auto found = top_.find(frame >> 18);
    if (found == top_.end()) return;
    found->second &= ~bit(frame >> 12);
    if (found->second == 0) top_.erase(found);
  }

  // Returns the largest member that is not above `frame`.
  std::optional<std::uint64_t> floor(std::uint64_t frame) const {
    const std::uint64_t leaf = frame >> 6;
    if (const std::uint64_t* word = leaves_.find(leaf))
      if (const std::uint64_t below = *word & up_to(frame)) return leaf << 6 | highest(below);
    if (leaf == 0) return std::nullopt;
    const std::optional<std::uint64_t> earlier = floor_leaf(leaf - 1);
    if (!earlier) return std::nullopt;
    return *earlier << 6 | highest(*leaves_.find(*earlier));
  }

 private:
  static std::uint64_t bit(std::uint64_t index) { return std::uint64_t{1} << (index & 63); }
  static std::uint64_t up_to(std::uint64_t index) { return ~std::uint64_t{0} >> (63 - (index & 63)); }
  static std::uint64_t highest(std::uint64_t word) { return 63 - static_cast<unsigned>(std::countl_zero(word)); }

  // Adds the bit. True if the word already had members. The level above then already includes the word.
  static bool set_bit(std::uint64_t& word, std::uint64_t index) {
    const bool had_members = word != 0;
    word |= bit(index);
    return had_members;
  }

  // Removes the bit. True if the word has lost its last member. The level above must then drop the word.
  static bool clear_bit(FlatMap<std::uint64_t>& level, std::uint64_t key, std::uint64_t index) {
    std::uint64_t* const word = level.find(key);
    if (word == nullptr) return false;
    *word &= ~bit(index);
    return *word == 0 && level.erase(key);
  }

  std::optional<std::uint64_t> floor_leaf(std::uint64_t leaf) const {
    const std::uint64_t group = leaf >> 6;
    if (const std::uint64_t* word = middle_.find(group))
      if (const std::uint64_t below = *word & up_to(leaf)) return group << 6 | highest(below);
    if (group == 0) return std::nullopt;
    const std::optional<std::uint64_t> earlier = floor_group(group - 1);
    if (!earlier) return std::nullopt;
    return *earlier << 6 | highest(*middle_.find(*earlier));
  }

  std::optional<std::uint64_t> floor_group(std::uint64_t group) const {
    auto at = top_.upper_bound(group >> 6);
    if (at == top_.begin()) return std::nullopt;
    --at;
    const std::uint64_t allowed = at->first == group >> 6 ? up_to(group) : ~std::uint64_t{0};
    if (const std::uint64_t below = at->second & allowed) return at->first << 6 | highest(below);
    if (at == top_.begin()) return std::nullopt;
    --at;
    return at->first << 6 | highest(at->second);
  }

  FlatMap<std::uint64_t> leaves_;               // key: frame >> 6; value: one bit for each of 64 frames
  FlatMap<std::uint64_t> middle_;               // key: frame >> 12; value: one bit for each of 64 leaves
  std::map<std::uint64_t, std::uint64_t> top_;  // key: frame >> 18; value: one bit for each of 64 middle words
};

}  // namespace kmt
