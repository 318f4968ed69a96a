// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/json/heap_profile.hpp"

#include "base/text.hpp"
#include "views/json/cache_counts.hpp"
#include "views/json/common.hpp"

namespace kmt {

namespace {

Json to_json(const HeapFigures& figures) {
  Json json = Json::object();
  json["samples"] = figures.samples;
  json["live_samples"] = figures.live_samples;
  json["objects"] = to_json(figures.objects);
  json["bytes"] = to_json(figures.bytes);
  json["bytes_requested"] = to_json(figures.requested);
  json["live_objects"] = to_json(figures.live_objects);
  json["live_bytes"] = to_json(figures.live_bytes);
  return json;
}

}  // namespace

std::string json_heap_profile(const HeapProfileResult& result, const SymbolNames& symbols) {
  Json json = Json::object();
  json["schema"] = "kmemtrace.profile/1";
  json["kernel"] = printable(result.kernel);
  json["selection"] = text_or_null(result.selection);
  json["start_unix_ns"] = result.start_unix_ns;
  json["duration_ns"] = result.duration_ns;
  json["mean_bytes"] = result.mean_bytes;
  json["slab"] = to_json(result.slab);
  json["pages"] = result.has_pages ? to_json(result.pages) : Json(nullptr);
  json["by"] = Json::array();
  for (const HeapKey key : result.by) json["by"].push_back(info_of(key).name);
  json["rows"] = Json::array();
  for (const HeapRow& row : result.rows) {
    Json out = Json::object();
    out["allocator"] = row.pages ? "pages" : "slab";
    out["slab_pages"] = row.slab_pages;
    out["user_pages"] = row.user_pages;
    Json keys = Json::object();
    for (std::size_t i = 0; i < row.keys.size(); ++i)
      if (result.by[i] != HeapKey::stack) keys[std::string(info_of(result.by[i]).name)] = printable(row.keys[i]);
    if (!row.stack.empty()) {
      keys["stack"] = Json::array();
      for (const std::uint64_t address : row.stack) keys["stack"].push_back(printable(symbols.name(address)));
    }
    out["keys"] = std::move(keys);
    out.update(to_json(row.figures));
    json["rows"].push_back(std::move(out));
  }
  add_caches(json, result.caches);
  json["losses"] = to_json(result.losses);
  json["replaced"] = result.replaced;
  json["missing_events"] = result.missing;
  json["kernel_memory_bytes"] = result.memory;
  json["own_cpu_ns"] = result.own_cpu_ns;
  return dump(json);
}

}  // namespace kmt
