// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/json/fleet.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "views/json/common.hpp"

namespace kmt {

namespace {

Json to_json(const FleetSummary& of) {
  Json json = Json::object();
  json["selection"] = text_or_null(of.selection);
  json["traces"] = of.traces;
  json["hosts"] = of.hosts;
  json["kernels"] = Json::array();
  for (const std::string& kernel : of.kernels) json["kernels"].push_back(printable(kernel));
  json["recorded_ns"] = of.recorded_ns;
  json["events"] = of.events;
  json["lost_events"] = of.lost_events;
  json["may_lack_frees"] = of.may_lack_frees;
  json["first_began"] = utc_text(of.first_began);
  json["last_began"] = utc_text(of.last_began);
  return json;
}

Json document(std::string_view report) {
  Json json = Json::object();
  json["schema"] = "kmemtrace.fleet/1";
  json["report"] = report;
  return json;
}

Json names_of(const std::vector<const FleetKeyInfo*>& by) {
  Json names = Json::array();
  for (const FleetKeyInfo* key : by) names.push_back(key->name);
  return names;
}

Json keys_of(const std::vector<std::string>& keys, const std::vector<const FleetKeyInfo*>& by) {
  Json json = Json::object();
  for (std::size_t i = 0; i < by.size(); ++i) json[std::string(by[i]->name)] = text_or_null(keys[i]);
  return json;
}

Json row_of(const FleetRow& row, const std::vector<const FleetKeyInfo*>& by) {
  Json json = Json::object();
  json["keys"] = keys_of(row.keys, by);
  json["hosts"] = row.hosts.value();
  json["traces"] = row.traces.value();
  json["allocations"] = row.sums.allocations;
  json["failed_allocations"] = row.sums.failed_allocations;
  json["bytes_requested"] = row.sums.bytes_requested;
  json["bytes_allocated"] = row.sums.bytes_allocated;
  json["matched_frees"] = row.sums.matched_frees;
  json["bytes_freed"] = row.sums.bytes_freed;
  json["live_allocations"] = row.sums.live_allocations;
  json["live_bytes"] = row.sums.live_bytes;
  json["cross_cpu_frees"] = row.sums.cross_cpu_frees;
  json["mean_lifetime_ns"] =
      row.sums.matched_frees > 0 ? Json(row.lifetime_ns / row.sums.matched_frees) : Json(nullptr);
  return json;
}

Json row_of(const FleetLeakRow& row, const std::vector<const FleetKeyInfo*>& by) {
  Json json = Json::object();
  json["keys"] = keys_of(row.keys, by);
  json["hosts"] = row.hosts;
  json["growing_hosts"] = row.growing_hosts;
  json["traces"] = row.traces;
  json["growing_traces"] = row.growing_traces;
  json["live_allocations"] = row.live_allocations;
  json["live_bytes"] = row.live_bytes;
  json["reclaimable_bytes"] = row.reclaimable_bytes ? Json(*row.reclaimable_bytes) : Json(nullptr);
  json["unseen_bytes"] = row.unseen_bytes;
  json["growth_bytes_per_s"] = number_or_null(row.growth);
  json["sure_growth_bytes_per_s"] = number_or_null(row.sure_growth);
  json["deviation_bytes_per_s"] = number_or_null(row.deviation);
  return json;
}

template <typename Tables, typename Sort>
Json tables_of(const Tables& tables, const Sort& sort, const std::vector<const FleetKeyInfo*>& by,
               const FleetOptions& options) {
  Json groups = Json::object();
  for (const auto& table : tables) {
    Json json = Json::object();
    json["total"] = table.rows.size();
    json["rows"] = Json::array();
    for (const auto* row : sorted_by_column(table.rows, sort, FleetOrder())) {
      if (options.limit != 0 && json["rows"].size() == options.limit) break;
      json["rows"].push_back(row_of(*row, by));
    }
    groups[std::string(name_of(table.allocator))] = std::move(json);
  }
  return groups;
}

std::string_view text_of(Verdict verdict) {
  if (verdict == Verdict::unknown) return "unknown";
  return verdict == Verdict::changed ? "changed" : "unchanged";
}

Json row_of(const DiffRow& row, const FleetDiff& diff, const FleetOptions& options) {
  Json json = Json::object();
  json["keys"] = Json::object();
  for (std::size_t i = 0; i < diff.by.size(); ++i)
    json["keys"][std::string(diff.by[i]->name)] = text_or_null(plain_text(row.keys[i]));
  json["in_a"] = row.in_a;
  json["in_b"] = row.in_b;
  json["verdict"] = text_of(change_of(row, *options.sort_diff, diff.basis, options.noise).verdict);
  json["columns"] = Json::object();
  for (const Column<GroupRow>* column : fleet_diff_columns()) {
    const Change change = change_of(row, *column, diff.basis, options.noise);
    json["columns"][std::string(column->key)] = {{"a", number_or_null(change.a)},
                                                 {"b", number_or_null(change.b)},
                                                 {"difference", number_or_null(change.difference)},
                                                 {"percent", number_or_null(change.percent)},
                                                 {"verdict", text_of(change.verdict)}};
  }
  return json;
}

}  // namespace

std::string json_fleet(const FleetReport& report, const FleetOptions& options) {
  Json json = document("report");
  json["of"] = to_json(report.of);
  json["by"] = names_of(report.by);
  json["groups"] = tables_of(report.tables, *options.sort_report, report.by, options);
  return dump(json);
}

std::string json_fleet(const FleetLeaks& leaks, const FleetOptions& options) {
  Json json = document("leaks");
  json["of"] = to_json(leaks.of);
  json["by"] = names_of(leaks.by);
  json["groups"] = tables_of(leaks.tables, *options.sort_leaks, leaks.by, options);
  return dump(json);
}

std::string json_fleet(const FleetDiff& diff, const FleetOptions& options) {
  Json json = document("diff");
  json["a"] = to_json(diff.a);
  json["b"] = to_json(diff.b);
  json["basis"] = {{"per", diff.basis.per == DiffPer::second ? "second" : "trace"},
                   {"a", diff.basis.a},
                   {"b", diff.basis.b},
                   {"why", diff.basis.why}};
  json["noise"] = {{"percent", options.noise.percent},
                   {"least_count", options.noise.least_count},
                   {"deviations", Noise::kDeviations}};
  json["sort"] = options.sort_diff->key;
  json["by"] = names_of(diff.by);
  json["groups"] = Json::object();
  for (const DiffTable& table : diff.tables) {
    const DiffOrder order = ordered_rows(table, *options.sort_diff, diff.basis, options.noise);
    Json of = Json::object();
    of["total"] = table.rows.size();
    of["changed"] = order.changed.size();
    of["unchanged"] = order.unchanged.size();
    of["unknown"] = order.unknown.size();
    of["rows"] = Json::array();
    for (const auto* part : {&order.changed, &order.unchanged, &order.unknown})
      for (const DiffRow* row : *part)
        if (options.limit == 0 || of["rows"].size() < options.limit) of["rows"].push_back(row_of(*row, diff, options));
    json["groups"][std::string(name_of(table.allocator))] = std::move(of);
  }
  return dump(json);
}

std::string json_fleet(const FleetTraces& traces, const FleetOptions& options) {
  Json json = document("traces");
  json["of"] = to_json(traces.of);
  json["traces"] = Json::array();
  for (const FleetTraceRow& row : traces.rows) {
    if (options.limit != 0 && json["traces"].size() == options.limit) break;
    json["traces"].push_back({{"trace", printable(row.trace)},
                              {"host", printable(row.host)},
                              {"kernel", text_or_null(row.kernel)},
                              {"arch", text_or_null(row.arch)},
                              {"level", printable(row.level)},
                              {"path", printable(row.path)},
                              {"format", printable(row.format)},
                              {"began", utc_text(row.began)},
                              {"recorded_ns", row.recorded_ns},
                              {"events", row.events},
                              {"lost_events", row.lost_events}});
  }
  return dump(json);
}

std::string json_fleet(const FleetAccount& account, const FleetOptions& options) {
  Json json = document("account");
  json["selection"] = text_or_null(account.selection);
  json["hosts"] = account.hosts;
  json["amounts"] = Json::array();
  const auto release = [](const AccountOnKernel* one) {
    return one == nullptr ? Json(nullptr) : text_or_null(one->kernel);
  };
  for (const AccountRow& row : account.rows) {
    if (options.limit != 0 && json["amounts"].size() == options.limit) break;
    Json of = {
        {"part", printable(row.part)},      {"name", printable(row.name)},   {"growing_hosts", row.growing_hosts()},
        {"bytes_per_s", row.bytes_per_s()}, {"since", release(row.since())}, {"before", release(row.before())},
        {"kernels", Json::array()}};
    for (const AccountOnKernel& one : row.kernels) {
      Json names = Json::array();
      for (const std::string& name : one.growing_host_names) names.push_back(printable(name));
      of["kernels"].push_back({{"kernel", text_or_null(one.kernel)},
                               {"hosts", one.hosts},
                               {"growing_hosts", one.growing_hosts},
                               {"files", one.files},
                               {"growing_files", one.growing_files},
                               {"growing_host_names", std::move(names)},
                               {"bytes_per_s", one.bytes_per_s},
                               {"last_bytes", one.last_bytes}});
    }
    json["amounts"].push_back(std::move(of));
  }
  return dump(json);
}

}  // namespace kmt
