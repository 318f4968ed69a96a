// SPDX-License-Identifier: GPL-2.0-or-later
// Describes objects of a slab cache by what their words point to, without the addresses themselves.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "results/snapshot/object_kinds.hpp"
#include "trace/state/object_sample.hpp"

namespace kmt {

struct WordFeature {
  std::uint32_t offset = 0;
  WordTarget target;
  auto operator<=>(const WordFeature&) const = default;  // NOLINT(modernize-use-nullptr)
};

// The features of objects as numbers.
class ObjectFeatures {
 public:
  ObjectFeatures(const CacheSample& sample, const ImageSymbols& symbols);

  struct Described {
    const ObjectSample* object = nullptr;
    std::vector<std::uint32_t> strong;  // functions and tables of functions; sorted
    std::vector<std::uint32_t> weak;    // other pointers, lists and texts; sorted
  };
  const std::vector<Described>& objects() const { return objects_; }
  const WordFeature& feature(std::uint32_t number) const { return features_[number]; }

  // Returns what a word points to. Sets `is_strong` to true for functions and tables of functions.
  WordTarget target_of(const ObjectSample& object, std::size_t word, bool& is_strong) const;
  const ImageSymbol* symbol_of(const ObjectWord& word) const;  // null if the word has no symbol

 private:
  std::uint32_t number_of(WordFeature feature);
  void drop_rare();

  const CacheSample& sample_;
  const ImageSymbols& symbols_;
  std::vector<Described> objects_;
  std::vector<WordFeature> features_;
  std::map<WordFeature, std::uint32_t> numbers_;
};

}  // namespace kmt
