// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/json/check.hpp"

#include "base/text.hpp"
#include "views/json/common.hpp"

namespace kmt {

namespace {

Json to_json(const Error& error) {
  Json json = Json::object();
  json["what"] = printable(error.what());
  json["offset"] = error.place().offset ? Json(*error.place().offset) : Json(nullptr);
  json["context"] = Json::array();
  for (const std::string& context : error.contexts()) json["context"].push_back(printable(context));
  json["hint"] = text_or_null(error.hint());
  return json;
}

Json to_json(const CheckedFile& file) {
  Json json = Json::object();
  json["path"] = printable(file.path);
  json["verdict"] = !file.result ? "unreadable" : file.result->sound ? "sound" : "unsound";
  json["complete"] = file.result && file.result->trace.complete;
  json["error"] = file.error ? to_json(*file.error) : Json(nullptr);
  json["trace"] = file.result ? to_json(file.result->trace) : Json(nullptr);
  json["affected"] = Json::array();
  if (file.result)
    for (const AffectedNumbers numbers : file.result->affected)
      json["affected"].push_back(kAffectedNumberIds[static_cast<std::size_t>(numbers)]);
  const LiveCount maybe_freed = file.result ? file.result->maybe_freed : LiveCount{};
  json["live_is_upper_bound"] = maybe_freed.allocations > 0;
  json["maybe_freed_allocations"] = maybe_freed.allocations;
  json["maybe_freed_bytes"] = maybe_freed.bytes;
  json["explained_anomalies"] = file.result ? to_json(file.result->explained) : Json(nullptr);
  json["findings"] = file.result ? to_json(file.result->findings) : Json::array();
  return json;
}

}  // namespace

std::string json_check(const std::vector<CheckedFile>& files) {
  Json json = Json::object();
  json["schema"] = "kmemtrace.check/1";
  Json& list = json["files"] = Json::array();
  for (const CheckedFile& file : files) list.push_back(to_json(file));
  return dump(json);
}

}  // namespace kmt
