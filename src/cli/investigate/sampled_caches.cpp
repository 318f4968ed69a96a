// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/investigate/sampled_caches.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/file.hpp"

namespace kmt {

namespace {

using ObjectsJson = nlohmann::json;
using TargetKind = WordTarget::Kind;

constexpr const char* kObjectsSchema = "kmemtrace.investigate-objects/1";
// Larger than any cache, and small enough that the sum of all kinds does not overflow.
constexpr std::uint64_t kMostCounted = std::uint64_t{1} << 48;
constexpr std::size_t kMostKinds = 10'000;
constexpr std::uint64_t kLargestObject = std::uint64_t{1} << 30;

template <typename Value>
using Names = std::pair<Value, std::string_view>;

constexpr std::array kTargets = {
    Names<TargetKind>{TargetKind::none, "none"},     Names<TargetKind>{TargetKind::list, "list"},
    Names<TargetKind>{TargetKind::itself, "itself"}, Names<TargetKind>{TargetKind::text, "text"},
    Names<TargetKind>{TargetKind::object, "object"}, Names<TargetKind>{TargetKind::symbol, "symbol"}};
constexpr std::array kEnds = {Names<ReadingEnd>{ReadingEnd::complete, "complete"},
                              Names<ReadingEnd>{ReadingEnd::most_bytes, "most_bytes"},
                              Names<ReadingEnd>{ReadingEnd::stopped, "stopped"}};
constexpr std::array kModuleSources = {ModuleSource::unknown, ModuleSource::symbols, ModuleSource::list,
                                       ModuleSource::neighbour, ModuleSource::structure};
constexpr std::array kConfidences = {Confidence::none, Confidence::low, Confidence::medium, Confidence::high};

template <typename Value, std::size_t kCount>
std::string_view word_for(const std::array<Names<Value>, kCount>& names, Value value) {
  return std::ranges::find(names, value, &Names<Value>::first)->second;
}

[[noreturn]] void refuse_word() { throw Error("it has an unknown word"); }

template <typename Value, std::size_t kCount>
Value value_in(const std::array<Names<Value>, kCount>& names, const ObjectsJson& json) {
  const auto found = std::ranges::find(names, json.get<std::string>(), &Names<Value>::second);
  return found == names.end() ? (refuse_word(), Value{}) : found->first;
}

template <typename Value, std::size_t kCount>
Value value_in(const std::array<Value, kCount>& values, const ObjectsJson& json) {
  const auto name = json.get<std::string>();
  const auto found = std::ranges::find_if(values, [&](Value value) { return text_of(value) == name; });
  return found == values.end() ? (refuse_word(), Value{}) : *found;
}

std::uint64_t counted(const ObjectsJson& json, std::uint64_t most = kMostCounted) {
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() > most) throw Error("a number is out of range");
  return json.get<std::uint64_t>();
}

double share_in(const ObjectsJson& json) {
  const auto share = json.get<double>();
  if (!(share >= 0 && share <= 1)) throw Error("a share is out of range");
  return share;
}

ObjectsJson json_of(const KindMember& member) {
  const WordTarget& target = member.target;
  return {{"offset", member.offset}, {"target", word_for(kTargets, target.kind)},
          {"name", target.name},     {"module", target.module},
          {"in", target.offset},     {"share", member.share}};
}

KindMember member_of(const ObjectsJson& json) {
  const auto offset_at = [&](const char* key) {
    return static_cast<std::uint32_t>(counted(json.at(key), kLargestObject));
  };
  return {offset_at("offset"),
          {value_in(kTargets, json.at("target")), json.at("name").get<std::string>(),
           json.at("module").get<std::string>(), offset_at("in")},
          share_in(json.at("share"))};
}

ObjectsJson json_of(const SlabKind& kind) {
  ObjectsJson members = ObjectsJson::array();
  for (const KindMember& member : kind.members) members.push_back(json_of(member));
  return {{"symbol", kind.symbol},
          {"module", kind.module},
          {"module_from", text_of(kind.module_source)},
          {"structure", kind.structure.name},
          {"confidence", text_of(kind.structure.confidence)},
          {"share", kind.share},
          {"sampled", kind.sampled},
          {"objects", kind.objects},
          {"bytes", kind.bytes},
          {"members", std::move(members)},
          {"addresses", kind.addresses}};
}

SlabKind kind_of(const ObjectsJson& json) {
  SlabKind kind;
  kind.symbol = json.at("symbol").get<std::string>();
  kind.module = json.at("module").get<std::string>();
  kind.module_source = value_in(kModuleSources, json.at("module_from"));
  kind.structure = {json.at("structure").get<std::string>(), value_in(kConfidences, json.at("confidence"))};
  kind.share = share_in(json.at("share"));
  kind.sampled = counted(json.at("sampled"));
  kind.objects = counted(json.at("objects"));
  kind.bytes = counted(json.at("bytes"));
  for (const ObjectsJson& member : json.at("members")) kind.members.push_back(member_of(member));
  for (const ObjectsJson& address : json.at("addresses")) kind.addresses.push_back(counted(address, ~std::uint64_t{0}));
  return kind;
}

// Numbers of CacheKinds and their names in the file.
constexpr std::pair<const char*, std::uint64_t CacheKinds::*> kCounts[] = {
    {"object_size", &CacheKinds::object_size},     {"slot_size", &CacheKinds::slot_size},
    {"slabs_found", &CacheKinds::slabs_found},     {"slabs_read", &CacheKinds::slabs_read},
    {"slabs_changed", &CacheKinds::slabs_changed}, {"slabs_unreadable", &CacheKinds::slabs_unreadable},
    {"slabs_damaged", &CacheKinds::slabs_damaged}, {"sampled", &CacheKinds::sampled},
};

ObjectsJson json_of(const CacheKinds& cache, ReadingEnd end) {
  ObjectsJson json;
  json["cache"] = cache.cache;
  json["aliases"] = cache.aliases;
  for (const auto& [name, count] : kCounts) json[name] = cache.*count;
  json["searched"] = cache.searched;
  json["knows_all_slots"] = cache.knows_all_slots;
  json["knows_cpu_lists"] = cache.knows_cpu_lists;
  json["objects"] = cache.objects ? ObjectsJson(*cache.objects) : ObjectsJson();
  json["bytes"] = cache.bytes ? ObjectsJson(*cache.bytes) : ObjectsJson();
  json["end"] = word_for(kEnds, end);
  json["kinds"] = ObjectsJson::array();
  for (const SlabKind& kind : cache.kinds) json["kinds"].push_back(json_of(kind));
  return json;
}

CacheKinds cache_of(const ObjectsJson& json) {
  CacheKinds cache;
  cache.cache = json.at("cache").get<std::string>();
  cache.aliases = json.at("aliases").get<std::vector<std::string>>();
  for (const auto& [name, count] : kCounts) cache.*count = counted(json.at(name));
  cache.searched = share_in(json.at("searched"));
  cache.knows_all_slots = json.at("knows_all_slots").get<bool>();
  cache.knows_cpu_lists = json.at("knows_cpu_lists").get<bool>();
  if (!json.at("objects").is_null()) cache.objects = counted(json.at("objects"));
  if (!json.at("bytes").is_null()) cache.bytes = counted(json.at("bytes"));
  if (json.at("kinds").size() > kMostKinds) throw Error("a cache has too many kinds of objects");
  for (const ObjectsJson& kind : json.at("kinds")) cache.kinds.push_back(kind_of(kind));
  return cache;
}

// Returns the caches with their kinds of objects.
std::vector<LargeCache> with_kinds(std::vector<LargeCache> caches, const ObjectsJson& json) {
  if (json.at("schema") != kObjectsSchema) throw Error("its version is not supported");
  for (const ObjectsJson& stored : json.at("caches")) {
    const auto cache = std::ranges::find(caches, stored.at("name").get<std::string>(), &LargeCache::name);
    if (cache == caches.end()) continue;
    cache->kinds = cache_of(stored);
    cache->end = value_in(kEnds, stored.at("end"));
  }
  return caches;
}

std::optional<UnseenSource> unread_in(const ObjectsJson& json) {
  const auto unread = json.find("unread");
  if (unread == json.end()) return {};
  return UnseenSource{unread->at("what").get<std::string>(), unread->at("why").get<std::string>(),
                      unread->at("how").get<std::string>()};
}

}  // namespace

std::string json_sampled_caches(const std::vector<LargeCache>& caches, const std::optional<UnseenSource>& unread) {
  if (caches.empty()) return {};
  ObjectsJson json;
  json["schema"] = kObjectsSchema;
  json["caches"] = ObjectsJson::array();
  for (const LargeCache& cache : caches) {
    if (!cache.kinds) continue;
    ObjectsJson stored = json_of(*cache.kinds, cache.end);
    stored["name"] = cache.name;
    json["caches"].push_back(std::move(stored));
  }
  if (unread) json["unread"] = {{"what", unread->what}, {"why", unread->why}, {"how", unread->how}};
  return json.dump(-1, ' ', false, ObjectsJson::error_handler_t::replace) + "\n";
}

std::optional<UnseenSource> read_sampled_caches(const std::string& path, std::vector<LargeCache>& caches) {
  const auto refuse = [&path](const char* why) {
    return Error(fmt::format("The file does not have kinds of objects of `kmemtrace investigate`: {}", why))
        .at({path, {}, {}});
  };
  const std::string text = read_file(path);
  try {
    const auto json = ObjectsJson::parse(text);
    std::vector<LargeCache> found = with_kinds(caches, json);
    std::optional<UnseenSource> unread = unread_in(json);
    caches = std::move(found);
    return unread;
  } catch (const ObjectsJson::exception& error) {
    throw refuse(error.what());
  } catch (const Error& error) {
    throw refuse(error.what());
  }
}

}  // namespace kmt
