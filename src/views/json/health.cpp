// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/json/health.hpp"

#include "base/text.hpp"

namespace kmt {

Json json_health(const std::vector<HealthCheck>& checks) {
  constexpr const char* kUnits[] = {"share", "count", "bytes"};
  Json json = Json::array();
  for (const HealthCheck& check : checks) {
    const HealthLimits& limits = limits_of(check.topic);
    Json one = Json::object();
    one["id"] = limits.id;
    one["health"] = name_of(check.health);
    one["unit"] = kUnits[static_cast<std::size_t>(limits.unit)];
    one["value"] = number_or_null(check.value);
    one["bytes"] = number_or_null(check.bytes);
    one["warn"] = limits.warn;
    one["bad"] = limits.bad;
    one["subject"] = text_or_null(printable(check.subject));
    one["reason"] = limits.reason;
    json.push_back(std::move(one));
  }
  return json;
}

}  // namespace kmt
