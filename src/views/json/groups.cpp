// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/json/groups.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace kmt {

namespace {

struct KeyToJson {
  GroupKey key;

  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(NotFreed) const { return nullptr; }
  Json operator()(std::uint64_t number) const { return number; }
  Json operator()(const std::string& text) const { return printable(text); }
  Json operator()(const CodeAddress& code) const { return to_json(code); }
  Json operator()(const std::vector<CodeAddress>& frames) const {
    Json json = Json::array();
    for (const CodeAddress& frame : frames) json.push_back(to_json(frame));
    return json;
  }
  Json operator()(const TaskName& task) const {
    Json json = Json::object();
    json[key == GroupKey::process ? "pid" : "tid"] = task.id ? Json(*task.id) : Json(nullptr);
    json["comm"] = printable(task.comm);
    if (task.born_ns) json["born_ns"] = *task.born_ns;
    for (const std::string& name : task.earlier) json["earlier_comms"].push_back(printable(name));
    return json;
  }
  Json operator()(const NamedNumber& named) const {
    Json json = Json::object();
    if (key == GroupKey::gfp) {
      json["value"] = fmt::format("{:#x}", named.number);
      json["text"] = printable(named.name);
    } else {
      json["number"] = named.number;
      json["name"] = printable(named.name);
    }
    return json;
  }
  Json operator()(const CodeOwner& owner) const {
    Json json = Json::object();
    json["name"] = printable(owner.name);
    json["is_guess"] = owner.is_guess;
    return json;
  }
  Json operator()(const MemoryAddress& address) const { return address_text(address.value); }
  Json operator()(const LifetimeRange& range) const {
    Json json = Json::object();
    json["from_ns"] = range.from_ns;
    json["to_ns"] = range.to_ns;
    return json;
  }
};

}  // namespace

Json to_json(const CodeAddress& code) {
  Json json = Json::object();
  json["address"] = address_text(code.address);
  json["symbol"] = printable(code.symbol);
  if (!code.object.empty()) json["object"] = printable(code.object);
  if (!code.source.empty()) json["source"] = to_json(code.source);
  return json;
}

Json to_json(const Lifetimes& lifetimes) {
  Json json = Json::object();
  json["count"] = lifetimes.count();
  json["mean_ns"] = lifetimes.mean_ns();
  json["p50_ns"] = lifetimes.percentile_ns(50);
  json["p90_ns"] = lifetimes.percentile_ns(90);
  json["p99_ns"] = lifetimes.percentile_ns(99);
  json["under_1ms"] = lifetimes.under_1ms();
  json["histogram"] = histogram_to_json(lifetimes);
  return json;
}

Json histogram_to_json(const Lifetimes& lifetimes) {
  Json list = Json::array();
  for (const Lifetimes::Bucket& bucket : lifetimes.buckets()) {
    if (bucket.count == 0) continue;
    Json entry = Json::object();
    entry["from_ns"] = bucket.from_ns;
    entry["to_ns"] = bucket.to_ns;
    entry["count"] = bucket.count;
    list.push_back(std::move(entry));
  }
  return list;
}

Json key_to_json(GroupKey key, const KeyValue& value) {
  return std::visit(KeyToJson{key_of_free(key).value_or(key)}, value);
}

Json keys_to_json(const GroupRow& row, const std::vector<GroupKey>& by) {
  Json keys = Json::object();
  for (std::size_t i = 0; i < by.size(); ++i) keys[std::string(info_of(by[i]).name)] = key_to_json(by[i], row.keys[i]);
  return keys;
}

}  // namespace kmt
