// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/task_notes.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "trace/note_lines.hpp"

namespace kmt {

namespace {

constexpr std::size_t kMostLines = 1 << 19;  // an entry in memory is larger than a line

constexpr std::pair<const char*, TaskLives::Told> kToldOfTasks[] = {{"tasks", TaskLives::Told::at_begin},
                                                                    {"tasks_meanwhile", TaskLives::Told::meanwhile},
                                                                    {"tasks_later", TaskLives::Told::later}};

// Cuts the number from the line, and the blank behind it.
std::optional<std::uint64_t> take_number(std::string_view& line) {
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(line.data(), line.data() + line.size(), value);
  if (code != std::errc{}) return std::nullopt;
  line.remove_prefix(std::min(static_cast<std::size_t>(end - line.data()) + 1, line.size()));
  return value;
}

// Gives each line with the two numbers it begins with, cut from it.
template <typename Take>
void each_line(const TraceInfo& info, const char* note, Take take) {
  const auto found = info.notes.find(note);
  if (found == info.notes.end()) return;
  std::size_t lines = 0;
  for (std::string_view text = found->second; !text.empty() && lines < kMostLines;) {
    std::string_view line = take_line(text);
    const auto first = take_number(line);
    const auto second = take_number(line);
    if (!first || !second) continue;
    ++lines;
    take(*first, *second, line);
  }
}

// "PID PARENT PID-SPACE CGROUP" of processes, and "TID PID" of other threads.
void learn_task(std::uint64_t id, std::uint64_t parent, std::string_view rest, TaskLives::Told when, TaskLives& lives) {
  const auto tid = static_cast<std::int32_t>(id);
  KnownProcess process;
  if (const auto pid_space = take_number(rest))
    process = {tid, static_cast<std::int32_t>(parent), *pid_space, std::string(rest)};
  else
    process.group = static_cast<std::int32_t>(parent);
  lives.known(tid, std::move(process), when);
}

}  // namespace

void note_task_names(const TaskNameHistory& names, Notes& notes) {
  std::string text;
  for (const auto& [tid, time_ns, name] : names.renamed())
    if (name.find('\n') == std::string_view::npos) text += fmt::format("{} {} {}\n", time_ns, tid, name);
  if (!text.empty()) notes["task_names"] = std::move(text);
}

void note_task_lives(const TaskLives& lives, Notes& notes) {
  std::string births;
  for (const TaskLife& life : lives.births())
    births += fmt::format("{} {} {}{}\n", life.born_ns, life.tid, life.creator,
                          !life.knows_kind ? ""
                          : life.is_thread ? " thread"
                                           : " process");
  if (!births.empty()) notes["task_births"] = std::move(births);
  for (const auto& [name, when] : kToldOfTasks) {
    std::string text;
    for (const auto& [tid, known] : lives.told(when))
      text += known.group == tid ? fmt::format("{} {} {} {}\n", tid, known.parent, known.pid_space, known.cgroup)
                                 : fmt::format("{} {}\n", tid, known.group);
    if (!text.empty()) notes[name] = std::move(text);
  }
}

void read_task_notes(const ClockScale& scale, TraceInfo& info) {
  for (const auto& [name, when] : kToldOfTasks)
    each_line(info, name, [&info, told = when](std::uint64_t id, std::uint64_t parent, std::string_view rest) {
      learn_task(id, parent, rest, told, info.lives);
    });
  each_line(info, "task_births", [&](std::uint64_t ticks, std::uint64_t tid, std::string_view rest) {
    const auto creator = take_number(rest);
    info.lives.born({static_cast<std::int32_t>(tid), scale.to_ns(ticks), static_cast<std::int32_t>(creator.value_or(0)),
                     !rest.empty(), rest == "thread"});
  });
  each_line(info, "task_names", [&](std::uint64_t ticks, std::uint64_t tid, std::string_view name) {
    info.task_names.called_since(static_cast<std::int32_t>(tid), scale.to_ns(ticks), name);
  });
}

}  // namespace kmt
