// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/json/investigation.hpp"

#include <cmath>
#include <string>

#include "base/text.hpp"
#include "views/common/conclusion.hpp"
#include "views/json/common.hpp"
#include "views/json/health.hpp"
#include "views/json/objects.hpp"
#include "views/json/pages.hpp"
#include "views/json/snapshot.hpp"

namespace kmt {

namespace {

Json whole(double value) { return static_cast<std::int64_t>(std::llround(value)); }
// Rounds a rate or a time, because more digits would not be meaningful.
double rounded_to_tenths(double value) { return std::round(value * 10) / 10; }

Json wholes(const std::vector<double>& values) {
  Json json = Json::array();
  for (const double value : values) json.push_back(whole(value));
  return json;
}

template <typename Texts>
Json texts(const Texts& from) {
  Json json = Json::array();
  for (const auto& text : from) json.push_back(printable(text));
  return json;
}

Trend in_tenths(Trend trend) {
  for (double* const rate : {&trend.bytes_per_s, &trend.low, &trend.high, &trend.late_bytes_per_s})
    *rate = rounded_to_tenths(*rate);
  return trend;
}

Json to_json(const FindingSite& site) {
  Json json = Json::object();
  json["call_site"] = printable(site.call_site);
  json["cache"] = text_or_null(printable(site.cache));
  json["objects"] = whole(site.objects);
  json["bytes"] = whole(site.bytes);
  json["estimated"] = site.estimated;
  json["stack"] = texts(site.stack);
  return json;
}

Json to_json(const FindingProcess& process) {
  Json json = Json::object();
  json["task"] = printable(process.task);
  json["process"] = process.process == 0 ? Json(nullptr) : Json(process.process);
  json["cgroup"] = text_or_null(printable(process.cgroup));
  json["pod_name"] = text_or_null(printable(process.pod_name));
  json["threads"] = texts(process.threads);
  json["ended"] = process.ended;
  json["objects"] = whole(process.objects);
  json["bytes"] = whole(process.bytes);
  return json;
}

Json to_json(const FindingCache& cache) {
  Json json = Json::object();
  json["name"] = printable(cache.name);
  json["account"] = text_or_null(printable(cache.account));
  json["bytes_per_s"] = rounded_to_tenths(cache.bytes_per_s);
  json["kernel_bytes_per_s"] =
      cache.kernel_bytes_per_s ? Json(rounded_to_tenths(*cache.kernel_bytes_per_s)) : Json(nullptr);
  json["no_account"] = cache.no_account ? Json(words_of(*cache.no_account)) : Json(nullptr);
  json["kind"] = text_or_null(printable(cache.kind));
  json["merged_with"] = texts(cache.merged_with);
  return json;
}

Json to_json(const GrowthFinding& finding);
Json to_json(const StateGrowth& state);
Json to_json(const UnseenSource& unseen);
Json to_json(const InvestigationFile& file);
Json to_json(const LargeCache& cache);
Json to_json(const OwnerGrowth& growth);

template <typename Row>
Json rows(const std::vector<Row>& from) {
  Json json = Json::array();
  for (const Row& row : from) json.push_back(to_json(row));
  return json;
}

Json to_json(const GrowthFinding& finding) {
  Json json = Json::object();
  json["certainty"] = name_of(finding.certainty);
  json["function"] = printable(finding.function);
  json["call_site"] = printable(finding.call_site);
  json["entry"] = printable(finding.entry);
  json["task"] = printable(finding.task);
  json["source"] = finding.exact ? "recording" : "samples";
  json["growth"] = to_json(in_tenths(finding.trend));
  json["since_s"] = finding.since_seconds ? Json(rounded_to_tenths(*finding.since_seconds)) : Json(nullptr);
  json["unrecorded_bytes_per_s"] = rounded_to_tenths(finding.unrecorded_bytes_per_s);
  json["seconds"] = rounded_to_tenths(finding.seconds);
  json["bytes"] = whole(finding.bytes);
  json["objects"] = whole(finding.objects);
  json["reasons"] = Json::array();
  json["grounds"] = Json::array();
  for (const Reason& reason : finding.reasons) {
    json["reasons"].push_back(printable(words_of(reason)));
    json["grounds"].push_back(id_of(reason.ground));
  }
  json["call_sites"] = rows(finding.sites);
  json["processes"] = rows(finding.processes);
  json["process_count"] = finding.process_count;
  json["ended_processes"] = finding.ended_processes;
  json["caches"] = rows(finding.caches);
  json["step_seconds"] = finding.step_seconds;
  json["series"] = wholes(finding.series);
  return json;
}

Json to_json(const StateGrowth& state) {
  Json json = Json::object();
  json["name"] = printable(state.name);
  json["source"] = state.cache ? "slabinfo" : "meminfo";
  json["first"] = whole(state.first);
  json["last"] = whole(state.last);
  json["growth"] = to_json(in_tenths(state.trend));
  json["sure"] = state.sure;
  json["rises_since_s"] = state.late ? Json(rounded_to_tenths(state.late->since_seconds)) : Json(nullptr);
  json["kind"] = text_or_null(printable(state.kind));
  json["merged_with"] = texts(state.merged_with);
  json["mean_bytes_per_s"] = rounded_to_tenths(state.mean_bytes_per_s());
  json["reclaimable"] = state.reclaimable;
  json["of_the_recording"] = state.is_recorders;
  json["slab_accounting"] = state.is_slab_accounting;
  json["may_be_in_sheaves"] = state.may_be_in_sheaves;
  json["explained_bytes_per_s"] = rounded_to_tenths(state.explained_bytes_per_s);
  json["step_seconds"] = state.step_seconds;
  json["series"] = wholes(state.values);
  return json;
}

Json to_json(const UnseenSource& unseen) {
  Json json = Json::object();
  json["what"] = printable(unseen.what);
  json["why"] = printable(unseen.why);
  json["how"] = text_or_null(printable(unseen.how));
  return json;
}

Json to_json(const InvestigationFile& file) {
  Json json = Json::object();
  json["name"] = printable(file.name);
  json["what"] = file.what;
  return json;
}

Json to_json(const BalanceChange& change) {
  Json json = Json::object();
  json["id"] = change.line.id;
  json["label"] = change.line.label;
  json["depth"] = change.line.depth;
  json["counted"] = change.line.counted;
  json["before"] = change.a ? Json(*change.a) : Json(nullptr);
  json["after"] = change.b ? Json(*change.b) : Json(nullptr);
  return json;
}

Json balance(const std::optional<SnapshotDiff>& diff) {
  if (!diff) return nullptr;
  Json json = Json::array();
  for (const BalanceChange& change : diff->sheet) json.push_back(to_json(change));
  return json;
}

Json to_json(const std::optional<InvestigationCost>& cost, double seconds) {
  if (!cost) return nullptr;
  Json json = Json::object();
  json["cpu_seconds"] = cost->cpu_seconds;
  json["kernel_cpu_seconds"] = cost->kernel_cpu_seconds;
  json["measured"] = cost->is_measured;
  json["most_cpu_seconds"] = cost->most_cpu_seconds;
  json["asked_share"] = cost->cpu_share;
  json["cpus"] = cost->cpus;
  const double all = seconds * cost->cpus;
  json["share"] = all > 0 ? Json((cost->cpu_seconds + cost->kernel_cpu_seconds) / all) : Json(nullptr);
  return json;
}

Json to_json(const LargeCache& cache) {
  constexpr std::size_t kMostKinds = 5;
  Json json = Json::object();
  json["cache"] = printable(cache.name);
  json["bytes"] = cache.bytes;
  json["share"] = cache.share;
  json["growth"] = id_of(cache.growth);
  json["untested_site"] = text_or_null(printable(cache.untested_site));
  json["words"] = printable(words_of(cache));
  json["objects"] = cache.kinds ? json_cache_kinds(*cache.kinds, cache.end, kMostKinds) : Json(nullptr);
  return json;
}

template <typename Name>
Json changes(const std::vector<PagesChange>& rows, const char* key, Name&& name) {
  Json json = Json::array();
  for (const PagesChange& row : rows)
    json.push_back({{key, name(row.name)}, {"before", row.before}, {"after", row.after}});
  return json;
}

Json to_json(const std::optional<CensusChange>& census) {
  if (!census) return nullptr;
  Json json = Json::object();
  json["before"] = census->before;
  json["after"] = census->after;
  json["orders"] = changes(census->orders, "order", [](const std::string& order) { return std::stoul(order); });
  json["flags"] = changes(census->flags, "flags", [](const std::string& flags) { return flags; });
  json["cgroups"] =
      changes(census->cgroups, "cgroup", [](const std::string& path) { return text_or_null(printable(path)); });
  return json;
}

Json to_json(const std::optional<SharedMemoryRise>& rise) {
  if (!rise) return nullptr;
  Json json = Json::object();
  json["before"] = whole(rise->first);
  json["after"] = whole(rise->last);
  return json;
}

Json to_json(const OwnerGrowth& growth) {
  Json json = Json::object();
  json["kind"] = describe(growth.owner.kind).id;
  json["name"] = printable(growth.owner.name);
  json["place"] = describe(growth.owner.place).id;
  json["before"] = growth.before;
  json["after"] = growth.after;
  return json;
}

Json to_json(const InvestigatedWaits& waits) {
  constexpr std::size_t kMostProcesses = 10;
  Json json = Json::object();
  json["some_share"] = number_or_null(waits.some_share);
  json["are_long"] = waits.are_long;
  json["recording"] = nullptr;
  if (!waits.recorded) return json;
  json["recording"] = Json::object();
  json["recording"]["total"] = wait_sums_to_json(*waits.recorded);
  json["recording"]["processes"] = wait_groups_to_json(waits.processes, kMostProcesses);
  return json;
}

Json to_json(const Coverage& coverage) {
  Json json = Json::object();
  json["asked_seconds"] = rounded_to_tenths(coverage.asked_seconds);
  json["covered_seconds"] = rounded_to_tenths(coverage.covered_seconds);
  json["share"] = coverage.share();
  json["by"] = coverage.by_allocations ? "allocations" : "counters";
  return json;
}

}  // namespace

std::string json_investigation(const InvestigationResult& result) {
  Json json = Json::object();
  json["schema"] = "kmemtrace.investigate/1";
  json["kernel"] = text_or_null(printable(result.kernel));
  json["machine"] = text_or_null(printable(result.machine));
  json["host"] = text_or_null(printable(result.host));
  json["start_unix_ns"] = result.start_unix_ns == 0 ? Json(nullptr) : Json(result.start_unix_ns);
  json["seconds"] = rounded_to_tenths(result.seconds);
  json["complete"] = result.complete;
  json["cut_short"] = text_or_null(printable(result.cut_short));
  json["has_trends"] = result.judgement.has_trends();
  json["told"] = result.judgement.has_trends();  // older name of has_trends
  json["verdict"] = id_of(result.conclusion.verdict);
  json["coverage"] = to_json(result.conclusion.coverage);
  json["words"] = printable(conclusion_words(result));
  json["unsure"] = result.conclusion.unsure_findings;
  json["found"] = result.conclusion.verdict == GrowthVerdict::grows;
  json["findings"] = rows(result.judgement.findings);
  json["states"] = rows(result.judgement.states);
  json["judged"] = result.judgement.judged;
  json["shared_memory"] = to_json(result.judgement.shared_memory);
  json["left_out_bytes"] = whole(result.judgement.excluded_bytes);
  json["balance"] = balance(result.diff);
  json["health"] = json_health(result.health);
  json["waits"] = to_json(result.waits);
  json["large_caches"] = rows(result.large_caches);
  json["kernel_pages"] = to_json(result.census);
  json["owners"] = rows(result.owners);
  json["dying_cgroups"] = Json::array();
  for (const DyingCgroups& dying : result.dying_cgroups) json["dying_cgroups"].push_back(json_dying_cgroups(dying));
  Json narrowing = Json::object();
  narrowing["caches"] = texts(result.narrowing.caches);
  narrowing["sizes"] = result.narrowing.sizes;
  narrowing["object_sizes"] = result.narrowing.object_sizes;
  narrowing["orders"] = result.narrowing.orders;
  narrowing["pages"] = result.narrowing.pages;
  narrowing["seconds"] = rounded_to_tenths(result.trace_seconds);
  narrowing["lost_events"] = result.lost_events;
  json["recording"] = result.trace_seconds > 0 ? std::move(narrowing) : Json(nullptr);
  json["unseen"] = rows(result.unseen);
  json["cost"] = to_json(result.cost, result.seconds);
  json["folder"] = text_or_null(printable(result.folder));
  json["files"] = rows(result.files);
  json["next"] = texts(result.next);
  return dump(json);
}

std::string json_investigation_plan(const InvestigationPlan& plan) {
  Json json = Json::object();
  json["schema"] = "kmemtrace.investigate/1";
  Json planned = Json::object();
  planned["seconds"] = rounded_to_tenths(plan.seconds);
  planned["samples"] = plan.samples;
  planned["recording"] = plan.trace;
  planned["recording_stacks"] = plan.trace_stacks;
  planned["states"] = plan.states;
  planned["state_interval"] = plan.state_interval;
  planned["cpu_seconds"] = rounded_to_tenths(plan.least_cpu_seconds);
  planned["most_cpu_seconds"] = rounded_to_tenths(plan.most_cpu_seconds);
  planned["kernel_bytes"] = plan.kernel_bytes;
  planned["unseen"] = rows(plan.unseen);
  json["plan"] = std::move(planned);
  return dump(json);
}

}  // namespace kmt
