// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/input/damage_note.hpp"

#include <string>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/support/say.hpp"
#include "formats/task_notes.hpp"

namespace kmt {

void say_damage(const Findings& findings) {
  std::string warnings;
  for (std::size_t kind = 0; kind < kImperfections.size(); ++kind) {
    const std::uint64_t count = findings.count_of(static_cast<Imperfection>(kind));
    const ImperfectionText& text = kImperfections[kind];
    const bool hides = text.severity == Severity::error || text.severity == Severity::loss ||
                       static_cast<Imperfection>(kind) == Imperfection::some_cpus;
    if (count == 0 || !hides) continue;
    warnings += fmt::format("{}{} ({})", warnings.empty() ? "" : "; ", text.sentence, humane_count(count));
  }
  if (!warnings.empty()) say("warning: the trace is incomplete: {}. `kmemtrace check` shows more\n", warnings);
}

void say_interrupted(std::string_view result) {
  say("note: reading was interrupted: the {} covers only the part that was read\n", result);
}

void say_lack_of_cgroups(const TraceInfo& info) {
  if (info.tasks.lives.has_moves()) return;
  bool is_known = false;
  for (const char* const name : kNotesOfProc)
    if (const auto note = info.recording.notes.find(name); note != info.recording.notes.end())
      for (const std::string_view line : split(note->second, '\n')) {
        const std::size_t path = line.find('/');
        if (path == std::string_view::npos) continue;
        is_known = true;
        if (path + 1 < line.size()) return;
      }
  if (is_known)
    say("note: all tasks in the trace are in the root cgroup. Cgroups of version 1 are not recorded. In a container, "
        "the cgroup of the container is shown as the root\n");
}

}  // namespace kmt
