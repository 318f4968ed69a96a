// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/json/pages.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "views/json/common.hpp"

namespace kmt {

namespace {

Json to_json(const EventsAndPages& both) {
  Json json = Json::object();
  json["events"] = both.events;
  json["pages"] = both.pages;
  return json;
}

void append_fallbacks(Json& json, const auto& row) {
  json["fallbacks"] = to_json(row.fallbacks);
  json["fragmenting"] = to_json(row.fragmenting);
  json["severe"] = to_json(row.severe);
  json["moderate"] = to_json(row.moderate);
  json["ownership_changed"] = to_json(row.ownership_changed);
}

void append_counts(Json& json, const PageTaskRow& row) {
  json["allocated"] = to_json(row.allocated);
  json["failed"] = to_json(row.failed);
  json["zone_locked"] = to_json(row.zone_locked);
  json["refilled"] = to_json(row.refilled);
  json["pcpu_refills"] = row.refill_runs;
  json["freed"] = to_json(row.freed);
  json["freed_batched"] = to_json(row.freed_batched);
  json["drained"] = to_json(row.drained);
  json["pcpu_drains"] = row.drain_runs;
  append_fallbacks(json, row);
  json["live_pages"] = row.live_pages;
}

Json to_json(const PageTaskRow& row) {
  Json json = Json::object();
  json["task"] = printable(row.task);
  json["comm"] = printable(row.comm);
  json["tid"] = row.tid ? Json(*row.tid) : Json(nullptr);
  append_counts(json, row);
  return json;
}

Json to_json(const PageTypeRow& row) {
  Json json = Json::object();
  json["order"] = row.order;
  json["migrate_type"] = row.migrate_type;
  json["migrate_type_name"] = row.migrate_type_name;
  json["allocations"] = row.allocations;
  json["failed_allocations"] = row.failed_allocations;
  json["bytes_allocated"] = row.bytes_allocated;
  json["live_bytes"] = row.live_bytes;
  return json;
}

Json to_json(const PageFallbackRow& row) {
  Json json = Json::object();
  json["migrate_type"] = row.migrate_type;
  json["migrate_type_name"] = row.migrate_type_name;
  json["from_migrate_type"] = row.from;
  json["from_migrate_type_name"] = row.from_name;
  append_fallbacks(json, row);
  return json;
}

Json to_json(const PageFailureRow& row) {
  Json json = Json::object();
  json["task"] = printable(row.task);
  json["order"] = row.order;
  json["gfp_flags"] = fmt::format("{:#x}", row.gfp_flags);
  json["gfp_names"] = text_or_null(row.gfp_names);
  json["migrate_type"] = row.migrate_type;
  json["migrate_type_name"] = row.migrate_type_name;
  json["count"] = row.count;
  json["first_ns"] = row.first_ns;
  json["last_ns"] = row.last_ns;
  return json;
}

}  // namespace

std::string json_pages(const PagesResult& result, const PagesOptions& options) {
  Json json = Json::object();
  json["schema"] = "kmemtrace.pages/1";
  json["complete"] = result.trace.complete;
  json["trace"] = to_json(result.trace);
  json["total"] = Json::object();
  append_counts(json["total"], result.total);
  Json fragmentation = Json::object();
  fragmentation["pageblock_order"] = result.pageblock_order;
  fragmentation["pageblock_order_from"] = result.pageblock_order_assumed ? "architecture" : "trace";
  fragmentation["nodes"] = result.nodes ? Json(*result.nodes) : Json(nullptr);
  fragmentation["min_free_kbytes_step"] =
      result.min_free_kbytes_step ? Json(*result.min_free_kbytes_step) : Json(nullptr);
  json["fragmentation"] = std::move(fragmentation);

  json["tasks_total"] = result.tasks.size();
  json["tasks"] = Json::array();
  const auto tasks = sorted_page_tasks(result.tasks, *options.sort);
  for (std::size_t i = 0; i < options.shown(tasks.size()); ++i) json["tasks"].push_back(to_json(*tasks[i]));
  json["types"] = Json::array();
  for (const PageTypeRow& row : result.types) json["types"].push_back(to_json(row));
  json["fallback_types"] = Json::array();
  for (const PageFallbackRow& row : result.fallbacks) json["fallback_types"].push_back(to_json(row));
  json["failures_total"] = result.failures.size();
  json["failures"] = Json::array();
  for (std::size_t i = 0; i < options.shown(result.failures.size()); ++i)
    json["failures"].push_back(to_json(result.failures[i]));
  json["anomalies"] = Json::object();
  for (const auto& [kind, count] : result.anomalies) json["anomalies"][kind] = count;
  json["findings"] = to_json(result.findings);
  return dump(json);
}

}  // namespace kmt
