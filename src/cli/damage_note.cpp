// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/damage_note.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "base/units.hpp"

namespace kmt {

void say_damage(const Findings& findings) {
  std::string said;
  for (std::size_t kind = 0; kind < kImperfections.size(); ++kind) {
    const std::uint64_t count = findings.count_of(static_cast<Imperfection>(kind));
    const ImperfectionText& text = kImperfections[kind];
    const bool hides = text.severity == Severity::error || text.severity == Severity::loss ||
                       static_cast<Imperfection>(kind) == Imperfection::some_cpus;
    if (count == 0 || !hides) continue;
    said += fmt::format("{}{} ({})", said.empty() ? "" : "; ", text.sentence, humane_count(count));
  }
  if (!said.empty()) fmt::print(stderr, "warning: the trace is not whole: {}. `kmemtrace check` tells more\n", said);
}

void say_interrupted(std::string_view result) {
  fmt::print(stderr, "note: the reading was interrupted: the {} is of the part that was read\n", result);
}

void say_lack_of_cgroups(const ReportResult& result) {
  const auto asked = std::ranges::find(result.by, GroupKey::cgroup);
  if (asked == result.by.end() || result.groups.empty()) return;
  const auto key = static_cast<std::size_t>(asked - result.by.begin());
  const auto tells = [key](const GroupRow& row) {
    if (row.keys.size() <= key) return false;
    const auto* const path = std::get_if<std::string>(&row.keys[key]);
    return path != nullptr && path->starts_with('/') && *path != "/";
  };
  for (const GroupTable& table : result.groups)
    if (std::ranges::any_of(table.rows, tells)) return;
  fmt::print(stderr,
             "note: the trace knows no task in a cgroup but the root: kmemtrace records those of version 2 alone, and "
             "in a container that one is the root\n");
}

}  // namespace kmt
