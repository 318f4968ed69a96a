// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/investigate/evidence.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/file.hpp"

namespace kmt {

namespace {

using SortedJson = nlohmann::json;

constexpr const char* kSchema = "kmemtrace.investigate-evidence/1";
constexpr std::size_t kMostSteps = 256;
constexpr double kShortestStep = 1e-6;  // seconds

constexpr MemorySource kSources[] = {MemorySource::meminfo,        MemorySource::vmstat,
                                     MemorySource::vmstat_rate,    MemorySource::slabinfo_objects,
                                     MemorySource::slabinfo_pages, MemorySource::slab_extensions,
                                     MemorySource::slab_sheaves};

// The maximum values accepted from a file. They exceed the values of any machine, and are small enough that
// calculations do not overflow.
constexpr double kMostSeconds = 1e9;
constexpr double kMostBytes = 1e18;

double number(const SortedJson& json, double least, double most) {
  const auto value = json.get<double>();
  if (!(value >= least && value <= most)) throw Error("a number is out of range");
  return value;
}
double seconds_of(const SortedJson& json) { return number(json, 0, kMostSeconds); }
// Reads a number of bytes. Negative values are accepted too, because differences and estimates may be slightly below 0.
double bytes_of(const SortedJson& json) { return number(json, -kMostBytes, kMostBytes); }

std::uint64_t whole(const SortedJson& json, std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() > most) throw Error("a number is out of range");
  return json.get<std::uint64_t>();
}
std::vector<std::uint64_t> wholes(const SortedJson& json) {
  std::vector<std::uint64_t> values;
  for (const SortedJson& one : json) values.push_back(whole(one));
  return values;
}

SortedJson to_json(const MemorySeries& series) {
  SortedJson times = SortedJson::array();
  SortedJson values = SortedJson::array();
  for (const MemorySeriesPoint& point : series.points) {
    times.push_back(point.time_ns);
    values.push_back(point.value);
  }
  return {{"source", id_of(series.source)}, {"name", series.name}, {"times_ns", times}, {"values", values}};
}

MemorySeries series_of(const SortedJson& json) {
  MemorySeries series;
  const auto id = json.at("source").get<std::string>();
  const auto* const source = std::ranges::find(kSources, id, [](MemorySource one) { return id_of(one); });
  if (source == std::end(kSources)) throw Error("a series has an unknown source");
  series.source = *source;
  series.name = json.at("name").get<std::string>();
  const std::vector<std::uint64_t> times = wholes(json.at("times_ns"));
  const SortedJson& values = json.at("values");
  if (times.size() != values.size() || !std::ranges::is_sorted(times))
    throw Error("the times of a series are unsorted or do not match its values");
  series.points.reserve(times.size());
  for (std::size_t i = 0; i < times.size(); ++i) series.points.push_back({times[i], bytes_of(values.at(i))});
  return series;
}

// Stores only the changes of live bytes, because the live bytes of most groups change rarely.
SortedJson to_json(const GrowthGroup& group) {
  SortedJson changes = SortedJson::array();
  double before = 0;
  for (std::size_t i = 0; i < group.live.size(); ++i)
    if (const double live = group.live[i]; live != before) {
      changes.push_back({i, live});
      before = live;
    }
  return {{"stack", group.stack},       {"cache", group.cache},     {"task", group.task},
          {"thread", group.thread},     {"process", group.process}, {"cgroup", group.cgroup},
          {"left_out", group.excluded}, {"seen", group.seen},       {"objects", group.objects},
          {"bytes", group.bytes},       {"live", changes}};
}

GrowthGroup group_of(const SortedJson& json, std::size_t steps) {
  GrowthGroup group;
  group.stack = json.at("stack").get<std::vector<std::string>>();
  if (group.stack.empty()) throw Error("a group has no stack");
  group.cache = json.at("cache").get<std::string>();
  group.task = json.at("task").get<std::string>();
  group.thread = json.value("thread", "");  // files written by early versions of kmemtrace do not have this member
  group.process = static_cast<std::uint32_t>(whole(json.at("process"), std::numeric_limits<std::uint32_t>::max()));
  group.cgroup = json.at("cgroup").get<std::string>();
  group.excluded = json.at("left_out").get<bool>();
  group.seen = whole(json.at("seen"));
  group.objects = bytes_of(json.at("objects"));
  group.bytes = bytes_of(json.at("bytes"));
  group.live.resize(steps);
  std::size_t from = 0;
  for (const SortedJson& change : json.at("live")) {
    const std::uint64_t step = whole(change.at(0));
    if (step < from || step >= steps) throw Error("the steps of a group are unsorted or out of range");
    std::fill(group.live.begin() + static_cast<std::ptrdiff_t>(step), group.live.end(), bytes_of(change.at(1)));
    from = step + 1;
  }
  return group;
}

SortedJson to_json(const GrowthSeen& seen) {
  SortedJson groups = SortedJson::array();
  for (const GrowthGroup& group : seen.groups) groups.push_back(to_json(group));
  return {{"step_seconds", seen.step_seconds},
          {"steps", seen.steps},
          {"mean_bytes", seen.mean_bytes},
          {"pages", seen.pages},
          {"groups", std::move(groups)}};
}

GrowthSeen seen_of(const SortedJson& json) {
  GrowthSeen seen;
  seen.step_seconds = seconds_of(json.at("step_seconds"));
  seen.steps = whole(json.at("steps"));
  seen.mean_bytes = whole(json.at("mean_bytes"));
  seen.pages = json.at("pages").get<bool>();
  if (seen.step_seconds < kShortestStep || seen.steps == 0 || seen.steps > kMostSteps)
    throw Error("the samples have no steps");
  for (const SortedJson& group : json.at("groups")) seen.groups.push_back(group_of(group, seen.steps));
  return seen;
}

SortedJson to_json(const MemoryCgroups& cgroups) {
  SortedJson pairs = SortedJson::array();
  for (const auto& [process, path] : cgroups) pairs.push_back({process, path});
  return pairs;
}

MemoryCgroups cgroups_of(const SortedJson& json) {
  MemoryCgroups cgroups;
  for (const SortedJson& one : json)
    cgroups[static_cast<std::uint32_t>(whole(one.at(0), std::numeric_limits<std::uint32_t>::max()))] =
        one.at(1).get<std::string>();
  return cgroups;
}

SortedJson to_json(const std::map<std::uint32_t, bool>& running) {
  SortedJson pairs = SortedJson::array();
  for (const auto& [process, is_new] : running) pairs.push_back({process, is_new});
  return pairs;
}

std::map<std::uint32_t, bool> running_of(const SortedJson& json) {
  std::map<std::uint32_t, bool> running;
  for (const SortedJson& one : json)
    running[static_cast<std::uint32_t>(whole(one.at(0), std::numeric_limits<std::uint32_t>::max()))] =
        one.at(1).get<bool>();
  return running;
}

void take(const SortedJson& json, InvestigationResult& result, InvestigationEvidence& evidence) {
  if (json.at("schema") != kSchema) throw Error("its version is not supported");
  result.kernel = json.at("kernel").get<std::string>();
  result.machine = json.at("machine").get<std::string>();
  result.host = json.value("host", "");  // files written by early versions of kmemtrace do not have this member
  result.watched = true;
  result.start_unix_ns = whole(json.at("start_unix_ns"));
  result.cut_short = json.at("cut_short").get<std::string>();
  result.complete = result.cut_short.empty();
  result.trace_seconds = seconds_of(json.at("recorded_seconds"));
  for (const SortedJson& one : json.at("unseen"))
    result.unseen.push_back({one.at(0).get<std::string>(), one.at(1).get<std::string>(), one.at(2).get<std::string>()});
  evidence.seconds = seconds_of(json.at("seconds"));
  if (const auto requested = json.find("requested_seconds");
      requested != json.end())  // early versions of kmemtrace did not write this member
    result.requested_seconds = seconds_of(*requested);
  evidence.threshold_bytes_per_s = number(json.at("threshold_bytes_per_s"), 0, kMostBytes);
  evidence.trace_begin_seconds = seconds_of(json.at("recording_after_seconds"));
  // files written by early versions of kmemtrace do not have this member
  if (const auto set_up = json.find("recording_set_up"); set_up != json.end()) {
    evidence.setup_begin_seconds = seconds_of(set_up->at(0));
    evidence.setup_end_seconds = seconds_of(set_up->at(1));
  }
  const SortedJson& narrowing = json.at("recorded");
  evidence.narrowing = {narrowing.at("caches").get<std::vector<std::string>>(), wholes(narrowing.at("sizes")),
                        wholes(narrowing.at("object_sizes")), wholes(narrowing.value("orders", SortedJson::array())),
                        narrowing.at("pages").get<bool>()};
  for (const SortedJson& series : json.at("states")) evidence.states.push_back(series_of(series));
  if (!json.at("samples").is_null()) evidence.samples = seen_of(json.at("samples"));
  // files written by early versions of kmemtrace do not have this member
  const SortedJson cgroups = json.value("memory_cgroups", SortedJson());
  if (!cgroups.is_null()) evidence.memory_cgroups = cgroups_of(cgroups);
  const SortedJson running = json.value("running", SortedJson());
  if (!running.is_null()) evidence.running = running_of(running);
}

}  // namespace

std::string json_evidence(const InvestigationResult& result, const InvestigationEvidence& evidence) {
  SortedJson json;
  json["schema"] = kSchema;
  json["kernel"] = result.kernel;
  json["machine"] = result.machine;
  json["host"] = result.host;
  json["start_unix_ns"] = result.start_unix_ns;
  json["cut_short"] = result.cut_short;
  json["recorded_seconds"] = result.trace_seconds;
  json["unseen"] = SortedJson::array();
  for (const UnseenSource& one : result.unseen) json["unseen"].push_back({one.what, one.why, one.how});
  json["seconds"] = evidence.seconds;
  json["requested_seconds"] = result.requested_seconds;
  json["threshold_bytes_per_s"] = evidence.threshold_bytes_per_s;
  json["recording_after_seconds"] = evidence.trace_begin_seconds;
  json["recording_set_up"] = {evidence.setup_begin_seconds, evidence.setup_end_seconds};
  json["recorded"] = {{"caches", evidence.narrowing.caches},
                      {"sizes", evidence.narrowing.sizes},
                      {"object_sizes", evidence.narrowing.object_sizes},
                      {"orders", evidence.narrowing.orders},
                      {"pages", evidence.narrowing.pages}};
  json["states"] = SortedJson::array();
  for (const MemorySeries& series : evidence.states) json["states"].push_back(to_json(series));
  json["samples"] = evidence.samples ? to_json(*evidence.samples) : SortedJson(nullptr);
  json["memory_cgroups"] = evidence.memory_cgroups ? to_json(*evidence.memory_cgroups) : SortedJson(nullptr);
  json["running"] = evidence.running ? to_json(*evidence.running) : SortedJson(nullptr);
  // Replaces invalid UTF-8, because the name of a task may contain any bytes.
  return json.dump(-1, ' ', false, SortedJson::error_handler_t::replace) + '\n';
}

void read_evidence(const std::string& path, InvestigationResult& result, InvestigationEvidence& evidence) {
  const auto refuse = [&path](const char* why) {
    return Error(fmt::format("The file is not valid evidence of `kmemtrace investigate`: {}", why))
        .hint("Remove it to use the other files of the folder")
        .at({path, {}, {}});
  };
  const MappedFile file(path);
  const auto* const text = reinterpret_cast<const char*>(file.bytes().data());
  try {
    take(SortedJson::parse(text, text + file.bytes().size()), result, evidence);
  } catch (const SortedJson::exception& error) {
    throw refuse(error.what());
  } catch (const Error& error) {
    throw refuse(error.what());
  }
}

}  // namespace kmt
