// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/json/common.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace kmt {

namespace {

Json to_json(const Finding& finding) {
  Json json = Json::object();
  json["cpu"] = number_or_null(finding.cpu);
  json["offset"] = number_or_null(finding.offset);
  json["time_ns"] = number_or_null(finding.time_ns);
  json["detail"] = text_or_null(finding.detail);
  return json;
}

}  // namespace

Json text_or_null(std::string_view text) { return text.empty() ? Json(nullptr) : Json(printable(text)); }

Json to_json(const std::vector<std::pair<std::string, std::uint64_t>>& counts) {
  Json json = Json::object();
  for (const auto& [name, count] : counts) {
    Json& total = json[printable(name)];
    total = (total.is_null() ? 0 : total.get<std::uint64_t>()) + count;
  }
  return json;
}

Json to_json(const TraceSummary& trace) {
  Json json = Json::object();
  json["path"] = printable(trace.path);
  json["format"] = text_or_null(trace.format);
  json["kernel"] = text_or_null(trace.kernel);
  json["arch"] = text_or_null(trace.arch);
  json["byte_order"] = trace.byte_order == ByteOrder::big ? "big" : "little";
  json["word_bits"] = trace.word_bits;
  json["page_size"] = trace.page_size;
  json["cpus"] = trace.cpus;
  json["clock"] = text_or_null(trace.clock);
  json["recorded_at"] = text_or_null(trace.recorded_at);
  json["recorder_arguments"] = text_or_null(trace.recorder_arguments);
  json["first_ns"] = trace.first_ns;
  json["duration_ns"] = trace.duration_ns;
  json["recorded_ns"] = trace.recorded_ns;
  json["events"] = trace.events;
  json["stacks"] = trace.stacks;
  json["user_stacks"] = trace.user_stacks;
  json["lost_events"] = trace.lost_events;
  json["lost_per_cpu"] = trace.lost_per_cpu;
  json["loss_known"] = trace.loss_known && !trace.lost_at_least;
  return json;
}

Json to_json(const ExplainedAnomalies& explained) {
  Json json = Json::object();
  json["older_frees"] = explained.older_frees;
  json["untraced_frees"] = explained.untraced_frees;
  json["untraced_allocations"] = explained.untraced_allocations;
  json["recorder_frees"] = explained.recorder_frees;
  json["of_events"] = explained.events;
  return json;
}

Json to_json(const Findings& findings) {
  Json list = Json::array();
  for (std::size_t i = 0; i < kImperfections.size(); ++i) {
    const auto kind = static_cast<Imperfection>(i);
    if (findings.count_of(kind) == 0) continue;
    const ImperfectionText& text = describe(kind);
    Json examples = Json::array();
    for (const Finding& finding : findings.kept())
      if (finding.kind == kind) examples.push_back(to_json(finding));
    Json json = Json::object();
    json["kind"] = text.id;
    json["severity"] = to_string(text.severity);
    json["sentence"] = text.sentence;
    json["count"] = findings.count_of(kind);
    json["examples"] = std::move(examples);
    list.push_back(std::move(json));
  }
  return list;
}

Json to_json(const std::vector<SourceFrame>& source) {
  Json list = Json::array();
  for (const SourceFrame& frame : source) {
    Json json = Json::object();
    json["function"] = text_or_null(frame.function);
    json["file"] = text_or_null(frame.file);
    json["line"] = frame.line == 0 ? Json(nullptr) : Json(frame.line);
    list.push_back(std::move(json));
  }
  return list;
}

std::string address_text(std::uint64_t address) { return fmt::format("{:#x}", address); }

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

Json to_json(const Estimate& estimate) {
  Json json = Json::object();
  json["estimate"] = estimate.value;
  json["low"] = estimate.low;
  json["high"] = estimate.high;
  return json;
}

Json to_json(const Trend& trend) {
  if (trend.growth == Growth::too_few_points) return nullptr;
  Json json = Json::object();
  json["bytes_per_s"] = trend.bytes_per_s;
  json["low"] = trend.low;
  json["high"] = trend.high;
  json["late_bytes_per_s"] = trend.late_bytes_per_s;
  json["confidence"] = trend.confidence;
  json["evenness"] = trend.evenness;
  return json;
}

Json to_json(const HeapLosses& losses) {
  Json json = Json::object();
  json["samples_lost"] = losses.samples;
  json["ends_lost"] = losses.ends;
  json["not_followed"] = losses.unfollowed;
  json["without_stack"] = losses.no_stack;
  json["merged_events"] = losses.sites;
  json["merged_bytes"] = losses.site_bytes;
  json["events_not_told_apart"] = losses.sites;  // older names of the two keys above
  json["bytes_not_told_apart"] = losses.site_bytes;
  json["allocations_missed"] = losses.missed;
  json["frees_missed"] = losses.missed_frees;
  json["processes_not_followed"] = losses.not_followed_processes;
  return json;
}

std::string dump(const Json& document) { return document.dump(2) + "\n"; }

}  // namespace kmt
