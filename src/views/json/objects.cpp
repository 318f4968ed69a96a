// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/json/objects.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "views/common/object_commands.hpp"
#include "views/common/object_words.hpp"
#include "views/json/common.hpp"

namespace kmt {

namespace {

Json json_kind(const CacheKinds& cache, const SlabKind& kind) {
  Json json = Json::object();
  json["kind"] = printable(name_of(kind));
  json["share"] = kind.share;
  json["objects"] = kind.objects;
  json["bytes"] = kind.bytes;
  json["sampled"] = kind.sampled;
  json["module"] = text_or_null(printable(kind.module));
  json["module_from"] = kind.module.empty() ? Json(nullptr) : Json(text_of(kind.module_source));
  json["structure"] = text_or_null(printable(kind.structure.name));
  json["structure_confidence"] = kind.structure.name.empty() ? Json(nullptr) : Json(text_of(kind.structure.confidence));
  json["members"] = Json::array();
  for (const KindMember& member : kind.members)
    json["members"].push_back(
        {{"offset", member.offset}, {"points_to", printable(words_of(member.target))}, {"share", member.share}});
  json["examples"] = Json::array();
  for (const std::uint64_t address : kind.addresses)
    json["examples"].push_back({{"address", address_text(address)},
                                {"drgn", printable(drgn_command(kind, address))},
                                {"crash", printable(crash_command(kind, cache.object_size, address))}});
  return json;
}

}  // namespace

Json json_cache_kinds(const CacheKinds& cache, ReadingEnd end, std::size_t shown) {
  Json json = Json::object();
  json["cache"] = printable(cache.cache);
  json["aliases"] = Json::array();
  for (const std::string& alias : cache.aliases) json["aliases"].push_back(printable(alias));
  json["object_bytes"] = cache.object_size;
  json["slot_bytes"] = cache.slot_size;
  json["objects"] = number_or_null(cache.objects);
  json["bytes"] = number_or_null(cache.bytes);
  json["sampled"] = cache.sampled;
  json["slabs_found"] = cache.slabs_found;
  json["slabs_read"] = cache.slabs_read;
  json["slabs_changed"] = cache.slabs_changed;
  json["slabs_unreadable"] = cache.slabs_unreadable;
  json["slabs_damaged"] = cache.slabs_damaged;
  json["kinds_total"] = cache.kinds.size();
  json["kinds"] = Json::array();
  for (std::size_t i = 0; i < std::min(shown, cache.kinds.size()); ++i)
    json["kinds"].push_back(json_kind(cache, cache.kinds[i]));
  json["notes"] = Json::array();
  for (const std::string& note : notes_of(cache, end)) json["notes"].push_back(printable(note));
  return json;
}

std::string json_objects(const ObjectsReport& report, const SnapshotOptions& options) {
  Json json = Json::object();
  json["schema"] = "kmemtrace.objects/1";
  json["most_objects"] = report.most_objects;
  json["most_bytes"] = report.most_bytes;
  json["bytes_read"] = report.bytes_read;
  json["elapsed_ns"] = report.elapsed_ns;
  json["caches"] = Json::array();
  for (const CacheKinds& cache : report.caches)
    json["caches"].push_back(json_cache_kinds(cache, report.end, options.shown(cache.kinds.size())));
  return dump(json);
}

}  // namespace kmt
