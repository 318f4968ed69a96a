// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/json/cache_counts.hpp"

#include "base/text.hpp"

namespace kmt {

Json to_json(const CacheCount& cache) {
  Json json = Json::object();
  json["name"] = printable(cache.name);
  json["object_bytes"] = cache.object_bytes;
  json["allocations"] = cache.allocations;
  json["frees"] = cache.frees;
  json["net_objects"] = cache.net_objects();
  json["net_bytes"] = cache.net_bytes();
  json["slabinfo_objects"] = cache.slabinfo_objects ? Json(*cache.slabinfo_objects) : Json(nullptr);
  return json;
}

void add_caches(Json& json, const CacheCounts& caches) {
  json["caches"] = caches.counting == CacheCounting::counted ? Json::array() : Json(nullptr);
  for (const CacheCount& cache : caches.rows) json["caches"].push_back(to_json(cache));
  add_uncounted(json, caches.uncounted);
}

void add_uncounted(Json& json, const UncountedObjects& uncounted) {
  json["uncounted_objects"] = uncounted.objects;
  json["uncounted_functions"] = uncounted.functions;
  json["uncounted_calls"] = uncounted.missed_calls;
  json["uncounted_reason"] = text_or_null(uncounted.reason);
}

}  // namespace kmt
