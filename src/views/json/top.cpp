// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/json/top.hpp"

#include "base/text.hpp"
#include "views/json/cache_counts.hpp"
#include "views/json/common.hpp"

namespace kmt {

namespace {

Json to_json(const TopTotals& totals) {
  Json json = Json::object();
  json["events"] = totals.events_now;
  json["bytes"] = totals.bytes_now;
  json["live_bytes"] = totals.live_bytes ? to_json(*totals.live_bytes) : Json(nullptr);
  return json;
}

Json to_json(const TopRow& row, TopView view, const SymbolNames& symbols) {
  if (row.objects && row.objects_now) {
    Json out = to_json(*row.objects);
    out["interval_allocations"] = row.objects_now->allocations;
    out["interval_frees"] = row.objects_now->frees;
    return out;
  }
  Json out = Json::object();
  out["name"] = printable(row.name);
  if (view == TopView::processes) {
    out["pid"] = row.process == 0 ? Json(nullptr) : Json(row.process);
    out["threads"] = Json::array();
    for (const std::string& thread : row.threads) out["threads"].push_back(printable(thread));
  }
  out["interval_events"] = row.events_now;
  out["interval_bytes"] = row.bytes_now;
  out["events"] = row.events;
  out["failed"] = row.failed;
  out["bytes_requested"] = row.requested;
  out["bytes_allocated"] = row.allocated;
  out["live_bytes"] = row.live_bytes ? to_json(*row.live_bytes) : Json(nullptr);
  if (view == TopView::stacks) {
    out["stack"] = Json::array();
    for (const std::uint64_t address : row.stack) out["stack"].push_back(printable(symbols.name(address)));
  }
  return out;
}

}  // namespace

std::string json_top(const TopResult& result, const SymbolNames& symbols) {
  Json json = Json::object();
  json["schema"] = "kmemtrace.top/1";
  json["backend"] = result.backend;
  json["selection"] = text_or_null(result.selection);
  json["view"] = info_of(result.view).name;
  json["elapsed_ns"] = result.elapsed_ns;
  json["interval_ns"] = result.interval_ns;
  json["slab"] = to_json(result.slab);
  json["pages"] = to_json(result.pages);
  const bool is_net = result.view == TopView::net;
  json["rows"] = is_net && result.counting != CacheCounting::counted ? Json(nullptr) : Json::array();
  for (const TopRow& row : result.rows) json["rows"].push_back(to_json(row, result.view, symbols));
  if (is_net) add_uncounted(json, result.uncounted);
  json["rows_merged"] = result.rows_merged;
  json["losses"] = to_json(result.losses);
  json["replaced"] = result.replaced;
  json["kernel_memory_bytes"] = result.memory ? Json(*result.memory) : Json(nullptr);
  json["own_cpu"] = result.own_cpu;
  return json.dump() + "\n";
}

}  // namespace kmt
