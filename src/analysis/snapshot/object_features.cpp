// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/snapshot/object_features.hpp"

#include <algorithm>
#include <utility>

namespace kmt {

namespace {

constexpr std::uint32_t kWord = sizeof(std::uint64_t);

}  // namespace

ObjectFeatures::ObjectFeatures(const CacheSample& sample, const ImageSymbols& symbols)
    : sample_(sample), symbols_(symbols) {
  for (const ObjectSample& object : sample.objects) {
    Described described{&object, {}, {}};
    for (std::size_t i = 0; i < object.words.size(); ++i) {
      bool is_strong = false;
      WordTarget target = target_of(object, i, is_strong);
      if (target.kind == WordTarget::Kind::none) continue;
      const std::uint32_t number = number_of({static_cast<std::uint32_t>(i * kWord), std::move(target)});
      (is_strong ? described.strong : described.weak).push_back(number);
    }
    objects_.push_back(std::move(described));
  }
  drop_rare();
}

const ImageSymbol* ObjectFeatures::symbol_of(const ObjectWord& word) const {
  if (word.kind != WordContent::symbol) return nullptr;
  const auto found = symbols_.find(word.value);
  return found == symbols_.end() ? nullptr : &found->second;
}

WordTarget ObjectFeatures::target_of(const ObjectSample& object, std::size_t index, bool& is_strong) const {
  using Kind = WordTarget::Kind;
  const ObjectWord& word = object.words[index];
  const ObjectWord* const previous = index > 0 ? &object.words[index - 1] : nullptr;
  is_strong = false;
  if (word.is_list) return {Kind::list, {}, {}};
  if (previous != nullptr && previous->is_list) return {};  // the member `prev` of a list
  if (word.is_self) return {Kind::itself, {}, {}};
  if (word.kind == WordContent::text)
    return previous != nullptr && previous->kind == WordContent::text ? WordTarget() : WordTarget{Kind::text, {}, {}};
  if (word.kind == WordContent::object) return {Kind::object, sample_.caches[word.cache].name, {}, word.target_offset};
  const ImageSymbol* const symbol = symbol_of(word);
  if (symbol == nullptr || (symbol->is_code && symbol->offset != 0)) return {};
  is_strong = symbol->is_function() || symbol->is_table();
  return {Kind::symbol, symbol->name, symbol->module};
}

std::uint32_t ObjectFeatures::number_of(WordFeature feature) {
  const auto [found, is_new] = numbers_.emplace(std::move(feature), static_cast<std::uint32_t>(features_.size()));
  if (is_new) features_.push_back(found->first);
  return found->second;
}

// Leaves out features that few objects have, such as the head of a list, or data of an earlier object in memory that
// was not cleared.
void ObjectFeatures::drop_rare() {
  std::vector<std::size_t> counts(features_.size());
  for (const Described& object : objects_) {
    for (const std::uint32_t number : object.strong) ++counts[number];
    for (const std::uint32_t number : object.weak) ++counts[number];
  }
  const std::size_t least = std::max<std::size_t>(2, objects_.size() / 300);
  const bool drops = objects_.size() > least;
  const auto is_rare = [&](std::uint32_t number) { return drops && counts[number] < least; };
  for (Described& object : objects_) {
    std::erase_if(object.strong, is_rare);
    std::erase_if(object.weak, is_rare);
    std::ranges::sort(object.strong);
    std::ranges::sort(object.weak);
  }
}

}  // namespace kmt
