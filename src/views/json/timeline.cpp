// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/json/timeline.hpp"

#include "base/text.hpp"
#include "views/json/groups.hpp"
#include "views/json/pages.hpp"

namespace kmt {

namespace {

Json to_json(const Timeline& timeline, const ReportResult& report) {
  Json json = Json::object();
  json["allocator"] = name_of(timeline.allocator);
  if (timeline.group != nullptr) json["keys"] = keys_to_json(*timeline.group, report.by);
  json["live_is_upper_bound"] = maybe_freed_of(timeline, report).allocations > 0;
  Json live = Json::array();
  Json bytes = Json::array();
  Json allocations = Json::array();
  for (const TimeSeriesPoint& point : timeline.points) {
    live.push_back(point.live_bytes);
    bytes.push_back(point.bytes_allocated);
    allocations.push_back(point.allocations);
  }
  json["live_bytes"] = timeline.knows_bytes ? std::move(live) : Json(nullptr);
  json["bytes_allocated"] = timeline.knows_bytes ? std::move(bytes) : Json(nullptr);
  json["allocations"] = std::move(allocations);
  return json;
}

Json to_json(const MemorySeries& memory) {
  Json json = Json::object();
  json["source"] = id_of(memory.source);
  json["name"] = printable(memory.name);
  json["points"] = Json::array();
  for (const MemorySeriesPoint& point : memory.points) json["points"].push_back({point.time_ns, point.value});
  return json;
}

Json to_json(const Balance& balance) {
  Json json = Json::object();
  json["source"] = id_of(balance.source);
  json["name"] = printable(balance.name);
  json["first_bytes"] = balance.first;
  json["last_bytes"] = balance.last;
  json["first_ns"] = balance.first_ns;
  json["last_ns"] = balance.last_ns;
  json["explained_bytes"] = balance.explained;
  json["explained"] = balance.of_what;
  return json;
}

}  // namespace

std::string json_timeline(const TimelineResult& result) {
  Json json = Json::object();
  json["schema"] = "kmemtrace.timeline/1";
  json["complete"] = result.report.trace.complete;
  json["trace"] = to_json(result.report.trace);
  json["start_ns"] = result.axis.start_ns;
  json["bucket_ns"] = result.axis.width_ns;
  json["buckets"] = result.axis.buckets;
  json["by"] = Json::array();
  for (const GroupKey key : result.report.by) json["by"].push_back(info_of(key).name);
  json["allocators"] = Json::array();
  for (const Timeline& timeline : result.allocators) json["allocators"].push_back(to_json(timeline, result.report));
  json["groups"] = Json::array();
  for (const Timeline& timeline : result.groups) json["groups"].push_back(to_json(timeline, result.report));
  json["samples"] = Json::array();
  for (const MemorySeries& memory : result.report.histories->memory) json["samples"].push_back(to_json(memory));
  json["waits"] = result.stalls ? waits_to_json(*result.stalls) : Json(nullptr);
  json["balances"] = Json::array();
  for (const Balance& balance : result.balances) json["balances"].push_back(to_json(balance));
  json["explained_anomalies"] = to_json(result.report.explained);
  json["anomalies"] = to_json(result.report.anomalies);
  json["findings"] = to_json(result.report.findings);
  return dump(json);
}

}  // namespace kmt
