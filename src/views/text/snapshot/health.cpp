// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/snapshot/health.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"
#include "views/text/lines.hpp"
#include "views/text/table.hpp"

namespace kmt {

namespace {

std::string number_text(double value, HealthUnit unit, const TextStyle& style) {
  const auto whole = static_cast<std::uint64_t>(std::llround(value));
  switch (unit) {
    case HealthUnit::share: return fmt::format("{:.1f}%", 100 * value);
    case HealthUnit::count: return say_count(whole, style);
    case HealthUnit::bytes: break;
  }
  return say_bytes(whole, style);
}

std::string label_of(const HealthCheck& check) {
  const std::string_view label = limits_of(check.topic).label;
  return check.subject.empty() ? std::string(label) : fmt::format("{} ({})", label, ascii(check.subject));
}

Emphasis emphasis_of(Health health) {
  return health == Health::bad ? Emphasis::bad : health == Health::warn ? Emphasis::warning : Emphasis::good;
}

}  // namespace

std::string health_summary(const std::vector<HealthCheck>& checks) {
  std::string text;
  for (const Health health : {Health::bad, Health::warn, Health::ok, Health::unknown})
    if (const std::size_t count = count_of(checks, health))
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name_of(health));
  return text;
}

std::string text_warnings(const std::vector<HealthCheck>& checks, const TextStyle& style) {
  std::string out;
  for (const Health wanted : {Health::bad, Health::warn})
    for (const HealthCheck& check : checks) {
      if (check.health != wanted || !check.value) continue;
      const HealthLimits& limits = limits_of(check.topic);
      std::string value = number_text(*check.value, limits.unit, style);
      if (check.bytes) value += fmt::format(", {}", say_bytes(*check.bytes, style));
      out += hanging(fmt::format("  {:<5} ", name_of(check.health)),
                     fmt::format("{}: {}. {}", label_of(check), value, limits.reason), style);
    }
  return out;
}

std::string text_health(const std::vector<HealthCheck>& checks, const TextStyle& style) {
  if (count_of(checks, Health::unknown) == checks.size()) return {};
  Table table{
      {{"Check", true}, {"Value"}, {"Bytes", false, 1}, {"Warn", false, 2}, {"Bad", false, 2}, {"Health", true}}, {}};
  for (const HealthCheck& check : checks) {
    if (!check.value) continue;
    const HealthLimits& limits = limits_of(check.topic);
    TableRow& row = table.rows.emplace_back(
        TableRow{{label_of(check), number_text(*check.value, limits.unit, style),
                  check.bytes ? say_bytes(*check.bytes, style) : "", number_text(limits.warn, limits.unit, style),
                  number_text(limits.bad, limits.unit, style), std::string(name_of(check.health))}});
    row.emphasis = emphasis_of(check.health);
  }
  return "\n" + heading("Health checks: " + health_summary(checks), style) + to_text(table, style) +
         text_warnings(checks, style);
}

}  // namespace kmt
