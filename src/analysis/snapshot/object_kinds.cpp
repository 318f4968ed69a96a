// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/snapshot/object_kinds.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "analysis/snapshot/object_features.hpp"
#include "analysis/snapshot/object_members.hpp"

namespace kmt {

namespace {

using Numbers = std::vector<std::uint32_t>;  // numbers of features, sorted
using Described = ObjectFeatures::Described;
using Members = std::vector<const Described*>;

struct Cluster {
  Numbers features;  // features of its largest group of equal objects
  Members members;
};

std::vector<Cluster> by_size(std::map<Numbers, Members> parts) {
  std::vector<Cluster> clusters;
  clusters.reserve(parts.size());
  for (auto& [features, members] : parts) clusters.push_back({features, std::move(members)});
  std::ranges::stable_sort(clusters, std::ranges::greater(), [](const Cluster& one) { return one.members.size(); });
  return clusters;
}

// Adds each cluster to the first larger one that it matches.
template <typename Matches>
std::vector<Cluster> merged(std::vector<Cluster> clusters, Matches matches) {
  std::vector<Cluster> kept;
  for (Cluster& cluster : clusters) {
    const auto larger = std::ranges::find_if(kept, [&](const Cluster& one) { return matches(one, cluster); });
    if (larger == kept.end())
      kept.push_back(std::move(cluster));
    else
      larger->members.insert(larger->members.end(), cluster.members.begin(), cluster.members.end());
  }
  return kept;
}

// True if one cluster has all functions and tables of the other.
bool is_subset(const Cluster& a, const Cluster& b) {
  return std::ranges::includes(a.features, b.features) || std::ranges::includes(b.features, a.features);
}

// True if no offset has different features, and at least half of the features of the cluster with fewer features are in
// both.
bool is_similar(const ObjectFeatures& features, const Cluster& a, const Cluster& b) {
  std::map<std::uint32_t, std::uint32_t> at_offset;  // number of the feature of `a` by offset
  for (const std::uint32_t number : a.features) at_offset[features.feature(number).offset] = number;
  std::size_t equal = 0;
  for (const std::uint32_t number : b.features) {
    const auto found = at_offset.find(features.feature(number).offset);
    if (found == at_offset.end()) continue;
    if (found->second != number) return false;
    ++equal;
  }
  const std::size_t smaller = std::min(a.features.size(), b.features.size());
  return smaller == 0 ? a.features.size() == b.features.size() : equal * 2 >= smaller && equal > 0;
}

std::uint64_t whole(double number) { return static_cast<std::uint64_t>(std::llround(number)); }

// Estimates the number of live objects in all slabs: the live share of the slabs that were read, times the slots in
// slabinfo. Without slabinfo, the objects in the searched part of memory stand for all. Empty if no slab was read,
// although the cache may have some.
std::optional<double> objects_in_all(const CacheSample& sample, double sampled_weight) {
  if (sample.slots == 0 && sample.slabs_found == 0 && sample.searched >= 1) return 0;
  if (sample.slots == 0) return std::nullopt;
  const double live_share = static_cast<double>(sample.live) / static_cast<double>(sample.slots);
  if (sample.all_slots) return live_share * static_cast<double>(*sample.all_slots);
  return sampled_weight / sample.searched;
}

}  // namespace

std::vector<ObjectGroup> group_objects(const CacheSample& sample, const ImageSymbols& symbols) {
  const ObjectFeatures features(sample, symbols);
  std::map<Numbers, Members> strong, weak;
  for (const Described& object : features.objects())
    (object.strong.empty() ? weak[object.weak] : strong[object.strong]).push_back(&object);
  std::vector<Cluster> clusters = merged(by_size(std::move(strong)), is_subset);
  for (Cluster& cluster :
       merged(by_size(std::move(weak)), [&](const Cluster&a, const Cluster&b) { return is_similar(features, a, b); }))
    clusters.push_back(std::move(cluster));
  std::vector<ObjectGroup> groups;
  for (const Cluster& cluster : clusters) {
    ObjectGroup& group = groups.emplace_back();
    for (const Described* member : cluster.members) group.objects.push_back(member->object);
    describe_members(features, sample, group);
  }
  return groups;
}

void set_module(SlabKind& kind, const ImageSymbol& symbol, ModuleSource source) {
  kind.module = symbol.module.empty() ? "vmlinux" : symbol.module;
  kind.module_source = source;
  kind.symbol = symbol.name;
}

CacheKinds finish_kinds(const CacheSample& sample, std::vector<ObjectGroup> groups) {
  CacheKinds result;
  result.cache = sample.name;
  result.aliases = sample.aliases;
  result.object_size = sample.object_size;
  result.slot_size = sample.slot_size;
  result.slabs_found = sample.slabs_found;
  result.slabs_read = sample.slabs_read;
  result.slabs_changed = sample.slabs_changed;
  result.slabs_unreadable = sample.slabs_unreadable;
  result.slabs_damaged = sample.slabs_damaged;
  result.knows_cpu_lists = sample.knows_cpu_lists;
  result.searched = sample.searched;
  result.knows_all_slots = sample.all_slots.has_value();
  result.sampled = sample.objects.size();
  double all = 0;
  for (const ObjectSample& object : sample.objects) all += object.weight;
  if (const auto live = objects_in_all(sample, all)) {
    result.objects = whole(*live);
    result.bytes = *result.objects * sample.slot_size;
  }
  for (ObjectGroup& group : groups) {
    double weight = 0;
    for (const ObjectSample* object : group.objects) weight += object->weight;
    group.kind.share = all > 0 ? weight / all : 0;
    group.kind.sampled = group.objects.size();
    group.kind.objects = whole(group.kind.share * static_cast<double>(result.objects.value_or(0)));
    group.kind.bytes = group.kind.objects * sample.slot_size;
    result.kinds.push_back(std::move(group.kind));
  }
  std::ranges::stable_sort(result.kinds, std::ranges::greater(), &SlabKind::share);
  return result;
}

}  // namespace kmt
