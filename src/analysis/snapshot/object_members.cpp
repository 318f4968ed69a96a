// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/snapshot/object_members.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

namespace kmt {

namespace {

constexpr std::uint32_t kWord = sizeof(std::uint64_t);
constexpr double kCommon = 0.5;  // a member belongs to the kind if at least this share of the objects has it
constexpr double kOftenNumber =
    0.3;  // a word counts as a number if at least this share of the objects has a number there

// Contents of the words at one offset.
struct WordColumn {
  struct Content {
    std::size_t count = 0;
    const ObjectSample* object = nullptr;  // one of the objects
  };
  std::map<WordTarget, Content> contents;
  std::size_t numbers = 0;
  std::size_t addresses = 0;
};

std::vector<WordColumn> columns_of(const ObjectFeatures& features, const ObjectGroup& group) {
  std::vector<WordColumn> columns;
  for (const ObjectSample* object : group.objects) {
    columns.resize(std::max(columns.size(), object->words.size()));
    for (std::size_t i = 0; i < object->words.size(); ++i) {
      WordColumn& column = columns[i];
      if (object->words[i].kind == WordContent::number) ++column.numbers;
      if (object->words[i].kind == WordContent::address) ++column.addresses;
      bool is_strong = false;
      WordTarget target = features.target_of(*object, i, is_strong);
      if (target.kind == WordTarget::Kind::none) continue;
      WordColumn::Content& content = column.contents[std::move(target)];
      ++content.count;
      content.object = object;
    }
  }
  return columns;
}

MemberEvidence evidence_of(const ObjectFeatures& features, const CacheSample& sample, const ObjectWord& word) {
  using Kind = MemberEvidence::Kind;
  MemberEvidence evidence;
  evidence.kind = Kind::address;
  if (word.is_list) {
    evidence.kind = Kind::list;
  } else if (word.kind == WordContent::text) {
    evidence.kind = Kind::number;
  } else if (const ImageSymbol* const symbol = features.symbol_of(word)) {
    evidence.kind = symbol->is_function() ? Kind::function : symbol->is_table() ? Kind::table : Kind::data;
    evidence.symbol = symbol->name;
    evidence.functions = symbol->functions;
  } else if (word.kind == WordContent::object && !word.is_self) {
    evidence.kind = Kind::object;
    evidence.cache = sample.caches[word.cache].name;
    evidence.cache_object_size = sample.caches[word.cache].object_size;
    evidence.target_offset = word.target_offset;
  }
  return evidence;
}

bool ends_like_table(std::string_view name) {
  static constexpr std::array<std::string_view, 4> kEnds = {"ops", "operations", "_prot", "_type"};
  return std::ranges::any_of(kEnds, [name](std::string_view end) { return name.ends_with(end); });
}

// Rates how well a symbol names a kind: tables in modules name it best.
int rank_of(const ImageSymbol& symbol) {
  return (symbol.module.empty() ? 0 : 8) +
         (symbol.is_table()      ? 4
          : symbol.is_function() ? 2
                                 : 0) +
         (ends_like_table(symbol.name) ? 1 : 0);
}

// Returns the offsets of lists that link objects of this kind with each other. Other lists contain objects of other
// kinds, such as waiters, so they do not show where the objects of this kind belong.
std::vector<std::uint32_t> chains_of(const CacheSample& sample, const ObjectGroup& group) {
  std::map<std::uint32_t, std::size_t> counts;
  for (const ObjectSample* object : group.objects)
    for (std::size_t i = 0; i < object->words.size(); ++i) {
      const ObjectWord& word = object->words[i];
      const auto offset = static_cast<std::uint32_t>(i * kWord);
      if (word.is_list && !word.is_self && word.kind == WordContent::object && word.target_offset == offset &&
          sample.caches[word.cache].name == sample.name)
        ++counts[offset];
    }
  std::vector<std::uint32_t> chains;
  for (const auto& [offset, count] : counts)
    if (static_cast<double>(count) >= kCommon * static_cast<double>(group.objects.size())) chains.push_back(offset);
  return chains;
}

}  // namespace

void describe_members(const ObjectFeatures& features, const CacheSample& sample, ObjectGroup& group) {
  const std::vector<WordColumn> columns = columns_of(features, group);
  const auto all = static_cast<double>(group.objects.size());
  const ImageSymbol* best = nullptr;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto offset = static_cast<std::uint32_t>(i * kWord);
    const auto common =
        std::ranges::max_element(columns[i].contents, {}, [](const auto& content) { return content.second.count; });
    const bool is_common =
        common != columns[i].contents.end() && static_cast<double>(common->second.count) >= kCommon * all;
    MemberEvidence evidence;
    if (is_common) {
      const ObjectWord& word = common->second.object->words[i];
      group.kind.members.push_back({offset, common->first, static_cast<double>(common->second.count) / all});
      evidence = evidence_of(features, sample, word);
      const ImageSymbol* const symbol = word.is_list ? nullptr : features.symbol_of(word);
      if (symbol != nullptr && (best == nullptr || rank_of(*symbol) > rank_of(*best))) best = symbol;
    } else if (static_cast<double>(columns[i].addresses) >= kCommon * all) {
      evidence.kind = MemberEvidence::Kind::address;
    } else if (static_cast<double>(columns[i].numbers) < kOftenNumber * all) {
      continue;
    }
    evidence.offset = offset;
    group.evidence.push_back(std::move(evidence));
  }
  group.chains = chains_of(sample, group);
  // Modules, too, point to the kernel's data, such as init_net.
  const bool is_vague = best == nullptr || (best->module.empty() && !best->is_table() && !best->is_function());
  if (best != nullptr) group.kind.symbol = best->name;
  if (!is_vague) {
    group.kind.module = best->module.empty() ? "vmlinux" : best->module;
    group.kind.module_source = ModuleSource::symbols;
  }
  for (const ObjectSample* object : group.objects)
    if (group.kind.addresses.size() < 2) group.kind.addresses.push_back(object->address);
}

}  // namespace kmt
