// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/damage_note.hpp"

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
    if (count == 0 || (text.severity != Severity::error && text.severity != Severity::loss)) continue;
    said += fmt::format("{}{} ({})", said.empty() ? "" : "; ", text.sentence, humane_count(count));
  }
  if (!said.empty()) fmt::print(stderr, "warning: the trace is not whole: {}. `kmemtrace check` tells more\n", said);
}

void say_interrupted(std::string_view result) {
  fmt::print(stderr, "note: the reading was interrupted: the {} is of the part that was read\n", result);
}

}  // namespace kmt
