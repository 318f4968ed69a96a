// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/json/report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "views/json/common.hpp"
#include "views/json/groups.hpp"
#include "views/json/matrix.hpp"

namespace kmt {

namespace {

Json known(std::uint64_t bytes, bool is_known) { return is_known ? Json(bytes) : Json(nullptr); }

// Adds the numbers of live allocations that may already be freed. If there are such allocations, `live_is_upper_bound`
// is true.
void add_maybe_freed(const LiveCount& maybe_freed, Json& json) {
  json["live_is_upper_bound"] = maybe_freed.allocations > 0;
  json["maybe_freed_allocations"] = maybe_freed.allocations;
  json["maybe_freed_bytes"] = maybe_freed.bytes;
}

Json to_json(const AllocatorTotals& totals) {
  Json json = Json::object();
  json["allocations"] = totals.allocations;
  json["frees"] = totals.frees;
  json["failed_allocations"] = totals.failed_allocations;
  json["bytes_requested"] = totals.bytes_requested;
  json["bytes_allocated"] = known(totals.bytes_allocated, totals.knows_bytes);
  json["bytes_freed"] = known(totals.bytes_freed, totals.knows_bytes);
  json["live_allocations"] = totals.live_allocations;
  json["live_bytes"] = known(totals.live_bytes, totals.knows_bytes);
  json["matched_frees"] = totals.matched_frees;
  json["unmatched_frees"] = totals.unmatched_frees;
  json["null_frees"] = totals.null_frees;
  json["cross_cpu_frees"] = totals.cross_cpu_frees;
  json["peak_bytes"] = known(totals.peak_bytes, totals.knows_bytes);
  json["peak_ns"] = known(totals.peak_ns, totals.knows_bytes);
  json["lifetime"] = to_json(totals.lifetimes);
  add_maybe_freed(totals.maybe_freed, json);
  return json;
}

Json to_json(const SlabTotals& slab) {
  Json json = to_json(static_cast<const AllocatorTotals&>(slab));
  json["cross_node_frees"] = known(slab.cross_node_frees, slab.cross_node_allocations.has_value());
  json["cross_node_allocations"] = slab.cross_node_allocations ? Json(*slab.cross_node_allocations) : Json(nullptr);
  return json;
}

Json to_json(const PageTotals& pages) {
  Json json = Json::object();
  json["allocations"] = pages.allocations;
  json["frees"] = pages.frees;
  json["failed_allocations"] = pages.failed_allocations;
  json["bytes_allocated"] = pages.bytes_allocated;
  json["bytes_freed"] = pages.bytes_freed;
  json["live_bytes"] = pages.live_bytes;
  json["peak_bytes"] = pages.peak_bytes;
  json["peak_ns"] = pages.peak_ns;
  json["lifetime"] = to_json(pages.lifetimes);
  return json;
}

Json to_json(const PageOrderRow& row) {
  Json json = Json::object();
  json["order"] = row.order;
  json["allocations"] = row.allocations;
  json["frees"] = row.frees;
  json["failed_allocations"] = row.failed_allocations;
  json["bytes_allocated"] = row.bytes_allocated;
  json["live_bytes"] = row.live_bytes;
  return json;
}

Json to_json(const WindowClasses& window) {
  const auto count = [](const LiveCount& part) {
    return Json{{"allocations", part.allocations}, {"bytes", part.bytes}};
  };
  Json json = Json::object();
  json["left_live"] = count(window.left_live);
  json["freed_inside"] = count(window.freed_inside);
  json["freed_older"] = count(window.freed_older);
  json["throughout"] = count(window.throughout);
  return json;
}

Json to_json(const ReportWindow& window, const ReportResult& result) {
  Json json = Json::object();
  json["from_ns"] = window.range.from_ns;
  json["to_ns"] = known(window.range.to_ns, window.range.to_ns != WindowRange{}.to_ns);
  for (const Allocator allocator : {Allocator::slab, Allocator::pages, Allocator::percpu, Allocator::vmap})
    if (const AllocatorTotals& totals = totals_of(result, allocator); totals.allocations > 0 && totals.knows_bytes) {
      Json& of = json[std::string(name_of(allocator))] = to_json(window.totals[static_cast<std::size_t>(allocator)]);
      of["live_is_upper_bound"] = totals.maybe_freed.allocations > 0;
    }
  return json;
}

Json to_json(const GroupRow& row, const std::vector<GroupKey>& by) {
  Json json = Json::object();
  json["keys"] = keys_to_json(row, by);
  json["allocations"] = row.allocations;
  json["failed_allocations"] = row.failed_allocations;
  json["frees"] = row.matched_frees;
  json["bytes_requested"] = row.bytes_requested;
  json["bytes_allocated"] = known(row.bytes_allocated, row.knows_bytes);
  const Cell wasted = find_group_column("wasted")->get(row);
  json["bytes_wasted"] = std::holds_alternative<std::uint64_t>(wasted) ? Json(std::get<std::uint64_t>(wasted)) : Json();
  json["bytes_freed"] = known(row.bytes_freed, row.knows_bytes && row.knows_freed);
  json["live_allocations"] = row.live_allocations;
  json["live_bytes"] = known(row.live_bytes, row.knows_bytes && row.knows_freed);
  json["peak_bytes"] = row.peak_bytes && row.knows_bytes ? Json(*row.peak_bytes) : Json(nullptr);
  json["peak_ns"] = row.peak_bytes && row.knows_bytes ? Json(row.peak_ns) : Json(nullptr);
  json["first_ns"] = row.first_ns ? Json(*row.first_ns) : Json(nullptr);
  json["last_ns"] = row.last_ns ? Json(*row.last_ns) : Json(nullptr);
  json["cross_cpu_frees"] = row.cross_cpu_frees;
  json["cross_node_frees"] = row.cross_node_frees ? Json(*row.cross_node_frees) : Json(nullptr);
  json["lifetime"] = to_json(row.lifetimes);
  add_maybe_freed(row.maybe_freed, json);
  if (row.window) json["window"] = to_json(*row.window);
  return json;
}

Json to_json(const GroupTable& table, const std::vector<GroupKey>& by, const ReportOptions& options) {
  Json json = Json::object();
  json["total"] = table.rows.size();
  json["rows"] = Json::array();
  const std::vector<const GroupRow*> sorted = sorted_rows(table.rows, sort_column(options, table.rows));
  for (std::size_t i = 0; i < shown_rows(options, sorted.size()); ++i) json["rows"].push_back(to_json(*sorted[i], by));
  return json;
}

// Returns a row of "call_sites" (docs/formats/report-json.md).
Json to_json_site(const GroupRow& row) {
  Json json = to_json(std::get<CodeAddress>(row.keys.front()));
  json["allocations"] = row.allocations;
  json["frees"] = row.matched_frees;
  json["failed_allocations"] = row.failed_allocations;
  json["bytes_requested"] = row.bytes_requested;
  json["bytes_allocated"] = known(row.bytes_allocated, row.knows_bytes);
  json["live_allocations"] = row.live_allocations;
  json["live_bytes"] = known(row.live_bytes, row.knows_bytes);
  json["cross_cpu_frees"] = row.cross_cpu_frees;
  return json;
}

// Adds the members "call_sites" and "call_sites_total" for one allocator.
void add_call_sites(const ReportResult& result, Allocator allocator, const std::string& name,
                    const ReportOptions& options, Json& json) {
  if (result.by != std::vector<GroupKey>{GroupKey::call_site}) return;
  const auto table = std::find_if(result.groups.begin(), result.groups.end(),
                                  [allocator](const GroupTable& groups) { return groups.allocator == allocator; });
  json[name + "_total"] = table == result.groups.end() ? 0 : table->rows.size();
  json[name] = Json::array();
  if (table == result.groups.end()) return;
  const std::vector<const GroupRow*> sorted = sorted_rows(table->rows, sort_column(options, table->rows));
  for (std::size_t i = 0; i < shown_rows(options, sorted.size()); ++i) json[name].push_back(to_json_site(*sorted[i]));
}

Json to_json(const std::vector<OlderObjects>& caches) {
  Json list = Json::array();
  for (const OlderObjects& row : caches) {
    Json json = Json::object();
    json["cache"] = text_or_null(row.cache);
    json["frees"] = row.frees;
    json["lived"] = number_or_null(row.lived);
    json["exact"] = row.exact;
    list.push_back(std::move(json));
  }
  return list;
}

Json to_json(const std::vector<AnomalyRow>& anomalies) {
  Json list = Json::array();
  for (const AnomalyRow& row : anomalies) {
    const auto site = [](const CodeAddress& code) { return code.address == 0 ? Json(nullptr) : to_json(code); };
    Json json = Json::object();
    json["kind"] = describe(row.kind).id;
    json["allocator"] = name_of(row.allocator);
    json["first"] = site(row.first);
    json["second"] = site(row.second);
    json["cache"] = text_or_null(row.cache);
    json["count"] = row.count;
    json["first_ns"] = row.first_ns;
    json["last_ns"] = row.last_ns;
    json["explained"] = row.explained;
    list.push_back(std::move(json));
  }
  return list;
}

Json groups_to_json(const ReportResult& result, const ReportOptions& options) {
  Json json = Json::object();
  for (const GroupTable& table : result.groups)
    json[std::string(name_of(table.allocator))] = to_json(table, result.by, options);
  return json;
}

}  // namespace

std::string json_groups(const ReportResult& result, const ReportOptions& options) {
  return dump(groups_to_json(result, options));
}

std::string json_report(const ReportResult& result, const ReportOptions& options) {
  Json json = Json::object();
  json["schema"] = "kmemtrace.report/1";
  json["complete"] = result.trace.complete;
  json["trace"] = to_json(result.trace);
  json["events"] = to_json(result.events);
  json["calls"] = result.calls;
  json["slab"] = to_json(result.slab);
  json["pages"] = to_json(result.pages);
  json["memory"] = to_json(result.memory);
  json["page_orders"] = Json::array();
  for (const PageOrderRow& row : result.page_orders) json["page_orders"].push_back(to_json(row));
  add_call_sites(result, Allocator::slab, "call_sites", options, json);
  json["percpu"] = to_json(result.percpu);
  add_call_sites(result, Allocator::percpu, "percpu_call_sites", options, json);
  json["vmalloc"] = to_json(result.vmalloc);
  json["by"] = Json::array();
  for (const GroupKey key : result.by) json["by"].push_back(info_of(key).name);
  if (result.window) json["window"] = to_json(*result.window, result);
  json["groups"] = groups_to_json(result, options);
  if (!result.matrices.empty()) json["matrices"] = matrices_to_json(result.matrices, result.by, options);
  json["older_objects_lived"] = number_or_null(result.older.lived);
  json["older_objects"] = to_json(result.older.caches);
  json["anomalies"] = to_json(result.anomalies);
  json["explained_anomalies"] = to_json(result.explained);
  json["anomaly_sites"] = to_json(result.anomaly_sites);
  json["findings"] = to_json(result.findings);
  return dump(json);
}

}  // namespace kmt
