// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/json_report.hpp"

#include "base/text.hpp"
#include "views/json_common.hpp"

namespace kmt {

namespace {

Json known(std::uint64_t bytes, bool is_known) { return is_known ? Json(bytes) : Json(nullptr); }

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
  return json;
}

Json to_json(const SlabTotals& slab) {
  Json json = to_json(static_cast<const AllocatorTotals&>(slab));
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

Json to_json(const CallSiteRow& row) {
  Json json = Json::object();
  json["address"] = address_text(row.address);
  json["symbol"] = printable(row.symbol);
  json["allocations"] = row.allocations;
  json["frees"] = row.frees;
  json["failed_allocations"] = row.failed_allocations;
  json["bytes_requested"] = row.bytes_requested;
  json["bytes_allocated"] = known(row.bytes_allocated, row.knows_bytes);
  json["live_allocations"] = row.live_allocations;
  json["live_bytes"] = known(row.live_bytes, row.knows_bytes);
  json["cross_cpu_frees"] = row.cross_cpu_frees;
  return json;
}

Json to_json(const MemoryState& memory) {
  if (memory.samples == 0) return nullptr;
  Json rows = Json::object();
  for (const MemoryStateRow& row : memory.rows) {
    Json json = Json::object();
    json["first_bytes"] = row.first;
    json["last_bytes"] = row.last;
    json["most_bytes"] = row.most;
    rows[printable(row.name)] = std::move(json);
  }
  Json json = Json::object();
  json["samples"] = memory.samples;
  json["first_ns"] = memory.first_ns;
  json["last_ns"] = memory.last_ns;
  json["meminfo"] = std::move(rows);
  return json;
}

// As many of the rows as are shown, in the column's order.
Json call_sites(const std::vector<CallSiteRow>& rows, const Column<CallSiteRow>& by, const ReportOptions& options) {
  Json list = Json::array();
  const std::vector<const CallSiteRow*> sorted = sorted_call_sites(rows, by);
  for (std::size_t i = 0; i < shown_rows(options, sorted.size()); ++i) list.push_back(to_json(*sorted[i]));
  return list;
}

// Two names of a trace may become the same text: their counts are added, a key comes once.
Json to_json(const std::vector<std::pair<std::string, std::uint64_t>>& counts) {
  Json json = Json::object();
  for (const auto& [name, count] : counts) {
    Json& total = json[printable(name)];
    total = (total.is_null() ? 0 : total.get<std::uint64_t>()) + count;
  }
  return json;
}

}  // namespace

std::string json_report(const ReportResult& result, const ReportOptions& options) {
  Json json = Json::object();
  json["schema"] = "kmemtrace.report/1";
  json["complete"] = result.trace.complete;
  json["trace"] = to_json(result.trace);
  json["events"] = to_json(result.events);
  json["slab"] = to_json(result.slab);
  json["pages"] = to_json(result.pages);
  json["memory"] = to_json(result.memory);
  json["page_orders"] = Json::array();
  for (const PageOrderRow& row : result.page_orders) json["page_orders"].push_back(to_json(row));
  json["call_sites_total"] = result.call_sites.size();
  json["call_sites"] = call_sites(result.call_sites, sort_column(options), options);
  json["percpu"] = to_json(result.percpu);
  json["percpu_call_sites_total"] = result.percpu_call_sites.size();
  json["percpu_call_sites"] = call_sites(result.percpu_call_sites, percpu_sort_column(options), options);
  json["vmalloc"] = to_json(result.vmalloc);
  json["anomalies"] = to_json(result.anomalies);
  json["findings"] = to_json(result.findings);
  return dump(json);
}

}  // namespace kmt
