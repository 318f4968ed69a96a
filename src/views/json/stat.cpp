// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/json/stat.hpp"

#include "base/text.hpp"
#include "views/json/cache_counts.hpp"
#include "views/json/common.hpp"

namespace kmt {

std::string json_stat(const StatResult& result, bool as_line) {
  Json json = Json::object();
  json["schema"] = "kmemtrace.stat/1";
  json["kind"] = result.whole ? "total" : "interval";
  json["backend"] = result.backend;
  json["selection"] = text_or_null(result.selection);
  json["start_ns"] = result.start_ns;
  json["end_ns"] = result.end_ns;
  json["events"] = Json::array();
  for (const StatRow& row : result.rows) {
    Json event = Json::object();
    event["event"] = printable(row.event);
    event["events"] = row.events;
    event["failed"] = row.may_fail ? Json(row.failed) : Json(nullptr);
    event["bytes_requested"] = row.has_bytes ? Json(row.requested) : Json(nullptr);
    event["bytes_allocated"] = row.has_bytes ? Json(row.allocated) : Json(nullptr);
    event["missed"] = row.missed;
    json["events"].push_back(std::move(event));
  }
  add_caches(json, result.caches);
  json["missing_events"] = result.missing;
  json["processes_not_followed"] = result.not_followed;
  json["lost_events"] = result.lost;
  json["kernel_memory_bytes"] = result.memory ? Json(*result.memory) : Json(nullptr);
  json["memory"] = to_json(result.state);
  return as_line ? json.dump() + "\n" : dump(json);
}

}  // namespace kmt
