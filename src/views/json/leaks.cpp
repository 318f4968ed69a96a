// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/json/leaks.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "views/json/groups.hpp"

namespace kmt {

namespace {

Json known(std::uint64_t bytes, const LeakRow& row) { return row.group.knows_bytes ? Json(bytes) : Json(nullptr); }

Json doubts_to_json(const LeakRow& row) {
  Json list = Json::array();
  const GroupHistory& history = *row.group.history;
  for (std::size_t i = 0; i < kDoubts; ++i) {
    const LiveCount& count = history.doubtful[i];
    if (count.allocations == 0 && count.bytes == 0) continue;
    Json json = Json::object();
    json["reason"] = describe(static_cast<Doubt>(i)).id;
    json["allocations"] = count.allocations;
    json["bytes"] = known(count.bytes, row);
    list.push_back(std::move(json));
  }
  return list;
}

Json holders_to_json(const GroupHistory& history) {
  Json list = Json::array();
  for (const LiveHolder& holder : history.holders) {
    Json json = Json::object();
    json["process"] = key_to_json(GroupKey::process, holder.process);
    json["live_allocations"] = holder.live.allocations;
    json["live_bytes"] = holder.live.bytes;
    list.push_back(std::move(json));
  }
  return list;
}

Json names_to_json(const GroupHistory& history) {
  Json list = Json::array();
  for (const LiveName& name : history.names) {
    Json json = Json::object();
    json["name"] = printable(name.name);
    json["processes"] = name.processes;
    json["live_allocations"] = name.live.allocations;
    json["live_bytes"] = name.live.bytes;
    list.push_back(std::move(json));
  }
  return list;
}

Json to_json(const LeakRow& row, const LeakTable& table, const std::vector<GroupKey>& by) {
  const GroupHistory& history = *row.group.history;
  Json json = Json::object();
  json["keys"] = table.whole ? Json(nullptr) : keys_to_json(row.group, by);
  json["verdict"] = describe(row.verdict).id;
  json["growth"] = to_json(row.trend);
  json["certain_growth"] = to_json(row.certain);
  json["allocations"] = row.group.allocations;
  json["live_allocations"] = row.group.live_allocations;
  json["live_bytes"] = known(row.group.live_bytes, row);
  json["certain_bytes"] = known(row.certain_bytes(), row);
  json["uncertain_bytes"] = known(row.doubtful.bytes, row);
  json["uncertain"] = doubts_to_json(row);
  json["reallocated"] = history.reallocated;
  json["reallocated_of"] = history.reallocated_of;
  json["untraced_path"] = text_or_null(history.untraced_path);
  json["processes"] = holders_to_json(history);
  json["processes_in_all"] = history.holders_in_all;
  json["process_names"] = names_to_json(history);
  Json age = Json::object();
  age["oldest_ns"] = history.oldest_ns;
  age["median_ns"] = row.median_age_ns();
  age["histogram"] = histogram_to_json(history.ages);
  json["age"] = std::move(age);
  json["series"] = Json::array();
  for (const TimeSeriesPoint& point : history.series) json["series"].push_back(point.live_bytes);
  return json;
}

Json to_json(const GrowthGate& gate) {
  Json json = Json::object();
  json["max_growth_bytes"] = gate.limit;
  json["verdict"] = id_of(gate.verdict());
  json["gap"] = id_of(gate.gap);
  json["bytes_not_followed"] = gate.bytes_not_followed;
  json["checks"] = Json::array();
  for (const GateCheck& check : gate.checks)
    json["checks"].push_back({{"allocator", name_of(check.allocator)},
                              {"verdict", id_of(check.verdict)},
                              {"certain_bytes", check.bytes},
                              {"missing_bytes", check.missing_bytes},
                              {"untraced_bytes", check.untraced_bytes}});
  return json;
}

Json causes_to_json(const LeaksResult& result) {
  Json list = Json::array();
  for (const LeakCause& cause : result.causes) {
    const LeakRow& fastest = result.fastest_of(cause);
    Json json = Json::object();
    json["verdict"] = describe(result.worst).id;
    json["process"] =
        cause.source.process.comm.empty() ? Json(nullptr) : key_to_json(GroupKey::process, cause.source.process);
    json["processes"] = cause.source.processes;
    json["groups"] = cause.groups;
    json["live_bytes"] = cause.source.bytes;
    json["bytes_per_s"] = cause.bytes_per_s;
    json["fastest"] = {{"allocator", name_of(fastest.group.allocator)},
                       {"keys", keys_to_json(fastest.group, result.by)}};
    list.push_back(std::move(json));
  }
  return list;
}

Json to_json(const LeakTable& table, const LeaksResult& result, const LeaksOptions& options) {
  Json json = Json::object();
  json["total"] = table.rows.size();
  json["older_frees"] = table.older_frees;
  json["rows"] = Json::array();
  const std::vector<const LeakRow*> sorted = sorted_leaks(table.rows, *options.sort);
  for (std::size_t i = 0; i < options.shown(sorted.size()); ++i)
    json["rows"].push_back(to_json(*sorted[i], table, result.by));
  return json;
}

}  // namespace

std::string json_leaks(const LeaksResult& result, const LeaksOptions& options) {
  Json json = Json::object();
  json["schema"] = "kmemtrace.leaks/1";
  json["complete"] = result.trace.complete;
  json["trace"] = to_json(result.trace);
  json["by"] = Json::array();
  for (const GroupKey key : result.by) json["by"].push_back(info_of(key).name);
  json["threshold_bytes_per_s"] = result.threshold_bytes_per_s;
  json["confidence_needed"] = result.confidence_needed;
  json["judged"] = result.judged;
  json["not_followed"] = {{"groups", result.groups_not_followed}, {"live_bytes", result.bytes_not_followed}};
  json["gate"] = options.gate == nullptr ? Json(nullptr) : to_json(*options.gate);
  json["found"] = result.found();
  const LeaksUnclear unclear = result.unclear();
  json["unclear"] = unclear == LeaksUnclear::none ? Json(nullptr) : Json(id_of(unclear));
  json["start_ns"] = result.axis.start_ns;
  json["bucket_ns"] = result.axis.width_ns;
  json["lost_until_ns"] = result.lost_until_ns == 0 ? Json(nullptr) : Json(result.lost_until_ns);
  json["cut_at_ns"] = number_or_null(result.cut_at_ns);
  json["incomplete"] = Json::array();
  for (const Imperfection kind : result.incomplete) json["incomplete"].push_back(describe(kind).id);
  json["verdicts"] = Json::object();
  for (const LeakVerdictText& verdict : leak_verdicts()) json["verdicts"][std::string(verdict.id)] = verdict.sentence;
  json["causes"] = causes_to_json(result);
  json["groups"] = Json::object();
  for (const LeakTable& table : result.tables)
    json["groups"][std::string(name_of(table.allocator))] = to_json(table, result, options);
  json["older_objects_lived"] = number_or_null(result.older_lived);
  json["anomalies"] = to_json(result.anomalies);
  json["explained_anomalies"] = to_json(result.explained);
  json["findings"] = to_json(result.findings);
  return dump(json);
}

}  // namespace kmt
