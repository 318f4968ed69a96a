// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/json/objects.hpp"

#include "base/text.hpp"
#include "views/common/object_commands.hpp"
#include "views/json/common.hpp"

namespace kmt {

namespace {

Json json_kind(const CacheKinds& cache, const SlabKind& kind) {
  Json json = Json::object();
  json["kind"] = printable(kind.name);
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
        {{"offset", member.offset}, {"points_to", printable(member.text)}, {"share", member.share}});
  json["examples"] = Json::array();
  for (const std::uint64_t address : kind.addresses)
    json["examples"].push_back({{"address", address_text(address)},
                                {"drgn", printable(drgn_command(kind, address))},
                                {"crash", printable(crash_command(kind, cache.object_size, address))}});
  return json;
}

Json json_cache(const CacheKinds& cache, const SnapshotOptions& options) {
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
  json["kinds_total"] = cache.kinds.size();
  json["kinds"] = Json::array();
  for (std::size_t i = 0; i < options.shown(cache.kinds.size()); ++i)
    json["kinds"].push_back(json_kind(cache, cache.kinds[i]));
  json["notes"] = cache.notes;
  return json;
}

}  // namespace

std::string json_objects(const ObjectsReport& report, const SnapshotOptions& options) {
  Json json = Json::object();
  json["schema"] = "kmemtrace.objects/1";
  json["most_objects"] = report.most_objects;
  json["most_bytes"] = report.most_bytes;
  json["bytes_read"] = report.bytes_read;
  json["elapsed_ns"] = report.elapsed_ns;
  json["caches"] = Json::array();
  for (const CacheKinds& cache : report.caches) json["caches"].push_back(json_cache(cache, options));
  return dump(json);
}

}  // namespace kmt
