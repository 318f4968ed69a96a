// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/json/pages.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "views/common/stall_names.hpp"
#include "views/json/groups.hpp"

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

void append_sums(Json& json, const WaitSums& sums) {
  json["waits"] = sums.waits;
  json["total_ns"] = sums.total_ns;
  json["longest_ns"] = sums.longest_ns;
  json["own_ns"] = Json::object();
  for (std::size_t kind = 0; kind < kWaitKinds; ++kind)
    json["own_ns"][std::string(key_of(static_cast<StallKind>(kind)))] = sums.own_ns[kind];
  json["reclaimed_pages"] = sums.reclaimed_pages;
}

Json to_json(const WaitSums& sums) {
  Json json = Json::object();
  append_sums(json, sums);
  return json;
}

Json to_json(const StallKindRow& row) {
  Json json = Json::object();
  json["kind"] = key_of(row.kind);
  json["stalls"] = row.stalls;
  json["total_ns"] = row.total_ns;
  json["own_ns"] = row.own_ns;
  json["longest_ns"] = row.longest_ns;
  json["reclaimed_pages"] = row.reclaimed_pages;
  return json;
}

Json to_json(const std::optional<AwaitedMemory>& memory) {
  if (!memory) return nullptr;
  Json json = Json::object();
  json["allocator"] = memory->allocator;
  json["cache"] = text_or_null(printable(memory->cache));
  json["call_site"] = text_or_null(printable(memory->call_site));
  json["bytes_requested"] = memory->bytes_requested;
  json["failed"] = memory->failed;
  return json;
}

Json to_json(const Wait& wait) {
  Json json = Json::object();
  json["began_ns"] = wait.began_ns;
  append_sums(json, wait.sums);
  json["task"] = printable(wait.task);
  json["process"] = printable(wait.process);
  json["cgroup"] = text_or_null(printable(wait.cgroup));
  json["order"] = number_or_null(wait.order);
  json["gfp_flags"] = fmt::format("{:#x}", wait.gfp_flags);
  json["gfp_names"] = text_or_null(wait.gfp_names);
  json["stack"] = Json::array();
  for (const std::string& function : wait.stack) json["stack"].push_back(printable(function));
  json["memory"] = to_json(wait.memory);
  return json;
}

// Returns the first `most` groups.
Json to_json(const std::vector<WaitGroup>& groups, const PagesOptions& options) {
  Json json = Json::array();
  for (std::size_t i = 0; i < options.shown(groups.size()); ++i) {
    Json row = Json::object();
    row["name"] = printable(groups[i].name);
    append_sums(row, groups[i].sums);
    json.push_back(std::move(row));
  }
  return json;
}

Json to_json(const WaitRow& row, const std::vector<GroupKey>& by) {
  Json json = Json::object();
  json["keys"] = Json::object();
  for (std::size_t i = 0; i < by.size(); ++i)
    json["keys"][std::string(info_of(by[i]).name)] = key_to_json(by[i], row.keys[i]);
  append_sums(json, row.sums);
  return json;
}

Json to_json(const BackgroundRow& row) {
  Json json = Json::object();
  json["task"] = printable(row.task);
  json["node"] = number_or_null(row.node);
  json["wakeups"] = row.wakeups;
  json["awake_ns"] = row.awake_ns;
  json["compaction_ns"] = row.compaction_ns;
  json["throttled_ns"] = row.throttled_ns;
  return json;
}

Json to_json(const ScanRow& row) {
  Json json = Json::object();
  json["scanner"] = key_of(row.scanner);
  json["node"] = number_or_null(row.node);
  json["scanned_pages"] = row.scanned_pages;
  json["reclaimed_pages"] = row.reclaimed_pages;
  return json;
}

Json to_json(const WaitsOverTime& waits) {
  Json json = Json::object();
  json["start_ns"] = waits.start_ns;
  json["bucket_ns"] = waits.bucket_ns;
  json["waiting_ns"] = waits.waiting_ns;
  return json;
}

Json to_json(const StallCounts& counts) {
  Json json = Json::object();
  json["direct_reclaims"] = counts.direct_reclaims;
  json["compaction_requests"] = counts.compaction_requests;
  json["compactions"] = counts.compactions;
  json["failed_compactions"] = counts.failed_compactions;
  json["oom_victims"] = counts.oom_victims;
  return json;
}

}  // namespace

Json waits_to_json(const StallsResult& result) {
  Json json = Json::object();
  json["total"] = to_json(result.total);
  json["over_time"] = to_json(result.over_time);
  json["longest"] = Json::array();
  for (const Wait& wait : result.longest) json["longest"].push_back(to_json(wait));
  return json;
}

Json wait_sums_to_json(const WaitSums& sums) { return to_json(sums); }

Json wait_groups_to_json(const std::vector<WaitGroup>& groups, std::size_t most) {
  PagesOptions options;
  options.limit = most;
  return to_json(groups, options);
}

std::string json_stalls(const StallsResult& result, const PagesOptions& options) {
  Json json = Json::object();
  json["schema"] = "kmemtrace.stalls/1";
  json["complete"] = result.trace.complete;
  json["trace"] = to_json(result.trace);
  json["recorded"] = result.recorded;
  json["memory_recorded"] = result.memory_recorded;
  json["total"] = to_json(result.total);
  json["some_ns"] = number_or_null(result.some_ns);
  json["uncertain_stalls"] = result.uncertain_stalls;
  json["unfinished_waits"] = result.unfinished_waits;
  json["counts"] = to_json(result.counts);
  json["kernel_counters"] = to_json(result.kernel_counters);
  json["kinds"] = Json::array();
  for (const StallKindRow& row : result.kinds) json["kinds"].push_back(to_json(row));
  json["processes"] = to_json(result.processes, options);
  json["cgroups"] = to_json(result.cgroups, options);
  json["call_sites"] = to_json(result.call_sites, options);
  json["orders"] = to_json(result.orders, options);
  json["gfp_flags"] = to_json(result.gfp_flags, options);
  json["by"] = Json::array();
  for (const GroupKey key : result.by) json["by"].push_back(info_of(key).name);
  json["groups"] = Json::array();
  for (std::size_t i = 0; i < options.shown(result.groups.size()); ++i)
    json["groups"].push_back(to_json(result.groups[i], result.by));
  json["over_time"] = to_json(result.over_time);
  json["durations"] = Json::array();
  for (std::size_t bits = 0; bits < result.durations.size(); ++bits)
    if (result.durations[bits] > 0)
      json["durations"].push_back({{"below_us", std::uint64_t{1} << bits}, {"waits", result.durations[bits]}});
  json["longest"] = Json::array();
  for (const Wait& wait : result.longest) json["longest"].push_back(to_json(wait));
  json["background"] = Json::array();
  for (const BackgroundRow& row : result.background) json["background"].push_back(to_json(row));
  json["scans"] = Json::array();
  for (const ScanRow& row : result.scans) json["scans"].push_back(to_json(row));
  json["findings"] = to_json(result.findings);
  return dump(json);
}

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
