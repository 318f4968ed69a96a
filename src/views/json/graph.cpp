// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/json/graph.hpp"

#include "base/text.hpp"
#include "results/group.hpp"
#include "views/json/call_values.hpp"
#include "views/json/common.hpp"

namespace kmt {

namespace {

// Returns the memory allocated inside a call, without the allocators that the call did not use.
Json to_json(const InsideSums& inside) {
  Json json = Json::object();
  for (std::size_t i = 0; i < kAllocators; ++i) {
    const InsideSum& sum = inside[i];
    if (!sum.any()) continue;
    Json of = Json::object();
    of["allocations"] = sum.allocations;
    of["bytes"] = sum.bytes;
    of["live_allocations"] = sum.live_allocations;
    of["live_bytes"] = sum.live_bytes;
    of["failed"] = sum.failed;
    json[std::string(name_of(static_cast<Allocator>(i)))] = std::move(of);
  }
  return json;
}

// Returns the result of the call as text. The text is empty if the function returns nothing that can be shown.
Json result_text(const TracedCall& call) {
  if (call.result) return value_text(*call.result, true);
  return call.typed ? Json("") : Json(nullptr);
}

Json to_json(const TracedCall& call, const CallGraphResult& result, const GraphOptions& options) {
  Json json = Json::object();
  json["function"] = printable(result.functions[call.function].name);
  json["parent"] = number_or_null(call.parent);
  json["level"] = call.level;
  json["tid"] = call.tid;
  json["task"] = printable(call.task);
  json["cpu"] = call.cpu;
  json["end_cpu"] = call.end_cpu;
  json["interrupt"] = call.interrupt != 0 ? Json(interrupt_name(call)) : Json(nullptr);
  json["on_top"] = call.on_top;
  json["began_ns"] = call.begin_seen ? Json(call.began_ns) : Json(nullptr);
  json["ended_ns"] = call.end_seen ? Json(call.ended_ns) : Json(nullptr);
  json["duration_ns"] = number_or_null(call.duration_ns);
  json["lost_events"] = call.lost_events;
  json["only_missed"] = call.only_missed;
  json["inside_hidden"] = call.inside_hidden;
  if (options.arguments) {
    json["arguments"] = call.arguments ? arguments_json(*call.arguments) : Json(nullptr);
    json["read_late"] = call.arguments ? names_json(*call.arguments, &CallValue::is_late) : Json::array();
    json["cut"] = call.arguments ? names_json(*call.arguments, &CallValue::is_cut) : Json::array();
    json["unreadable"] = call.arguments ? names_json(*call.arguments, &CallValue::is_unreadable) : Json::array();
    json["left_out"] = call.arguments ? names_json(*call.arguments, &CallValue::is_left_out) : Json::array();
    if (options.texts) json["argument_texts"] = call.arguments ? argument_texts_json(*call.arguments) : Json(nullptr);
  }
  if (options.return_values) {
    json["return_value"] = call.return_value ? Json(address_text(*call.return_value)) : Json(nullptr);
    json["result"] = call.result ? value_json(*call.result) : Json(nullptr);
    json["error"] = number_or_null(returned_error(call, result.trace.word_bits));
    json["failed"] = has_failed(call, result.trace.word_bits);
    if (options.texts) json["result_text"] = result_text(call);
  }
  json["inside"] = to_json(call.inside);
  return json;
}

Json to_json(const LostEvents& gap) {
  Json json = Json::object();
  json["cpu"] = gap.cpu;
  json["after_ns"] = gap.before_ns;
  json["before_ns"] = gap.after_ns != 0 ? Json(gap.after_ns) : Json(nullptr);
  json["events"] = number_or_null(gap.count);
  return json;
}

Json to_json(const GraphFunction& function) {
  Json json = Json::object();
  json["function"] = printable(function.name);
  json["address"] = address_text(function.address);
  json["calls"] = function.calls;
  json["selected"] = function.selected;
  json["cut_off"] = function.cut_off;
  json["lost_events"] = function.lost_events;
  const auto time = [&function](std::uint64_t ns) { return function.timed > 0 ? Json(ns) : Json(nullptr); };
  json["total_ns"] = time(function.total_ns);
  json["self_ns"] = time(function.self_ns);
  json["longest_ns"] = time(function.longest_ns);
  json["inside"] = to_json(function.inside);
  json["inside_self"] = to_json(function.inside_self);
  return json;
}

}  // namespace

std::string json_graph(const CallGraphResult& result, const GraphOptions& options) {
  Json json = Json::object();
  json["schema"] = "kmemtrace.graph/1";
  json["complete"] = result.trace.complete;
  json["trace"] = to_json(result.trace);
  json["calls_traced"] = result.calls_traced;
  json["calls_selected"] = result.calls_selected;
  json["return_values"] = result.has_return_values;
  json["arguments"] = result.has_arguments;
  json["types"] = result.has_types;
  json["calls"] = Json::array();
  for (const TracedCall& call : result.calls) json["calls"].push_back(to_json(call, result, options));
  json["functions"] = Json::array();
  std::uint64_t functions = 0;
  for (const GraphFunction* const function : sorted_functions(result.functions, *options.sort)) {
    if (function->calls + function->cut_off == 0) continue;
    ++functions;
    if (options.most_functions == 0 || functions <= options.most_functions)
      json["functions"].push_back(to_json(*function));
  }
  json["functions_total"] = functions;
  json["not_called"] = Json::array();
  for (const std::string& function : result.not_called) json["not_called"].push_back(printable(function));
  json["refused"] = Json::array();
  for (const RefusedFunction& refused : result.refused)
    json["refused"].push_back({{"function", printable(refused.name)}, {"reason", printable(refused.why)}});
  json["outside"] = to_json(result.outside);
  json["gaps"] = Json::array();
  for (const LostEvents& gap : result.gaps) json["gaps"].push_back(to_json(gap));
  json["missed"] = Json::array();
  for (const MissedEvents& missed : result.missed)
    json["missed"].push_back(
        {{"from_ns", missed.from_ns},
         {"to_ns", missed.to_ns},
         {"events", missed.count},
         {"function", missed.function.empty() ? Json(nullptr) : Json(printable(missed.function))}});
  json["findings"] = to_json(result.findings);
  return dump(json);
}

}  // namespace kmt
