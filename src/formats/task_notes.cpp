// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/task_notes.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/number.hpp"
#include "trace/note_lines.hpp"

namespace kmt {

namespace {

// Maximum number of lines that are read. This limits the memory, because a decoded entry needs more memory than its
// line in the note.
constexpr std::size_t kMostLines = 1 << 19;

// Maximum size of a note when it is written. All notes of a .kmt are in one chunk, whose size is limited.
constexpr std::size_t kMostBytes = 12 << 20;

constexpr TaskLives::Noted kNoted[] = {TaskLives::Noted::at_begin, TaskLives::Noted::meanwhile,
                                       TaskLives::Noted::later};
static_assert(std::size(kNoted) == kNotesOfProc.size());

// Removes a number and the blank after it from the start of the line.
std::optional<std::uint64_t> take_number_and_blank(std::string_view& line) {
  const auto value = take_number<std::uint64_t>(line);
  if (value && !line.empty()) line.remove_prefix(1);
  return value;
}

// Calls take(first, second, rest) for each line that starts with two numbers.
template <typename Take>
void each_line(const TraceInfo& info, const char* note, Take take) {
  std::size_t lines = 0;
  for (std::string_view text = note_in(info.recording.notes, note); !text.empty() && lines < kMostLines;) {
    std::string_view line = take_line(text);
    const auto first = take_number_and_blank(line);
    const auto second = take_number_and_blank(line);
    if (!first || !second) continue;
    ++lines;
    take(*first, *second, line);
  }
}

// Adds the task in a line of a note: "PID PARENT PID-SPACE CGROUP" for a process, "TID PID" for another thread.
void learn_task(std::uint64_t id, std::uint64_t parent, std::string_view rest, TaskLives::Noted when,
                TaskLives& lives) {
  const auto tid = static_cast<std::int32_t>(id);
  KnownProcess process;
  if (const auto pid_space = take_number_and_blank(rest))
    process = {tid, static_cast<std::int32_t>(parent), *pid_space, std::string(rest)};
  else
    process.group = static_cast<std::int32_t>(parent);
  lives.known(tid, std::move(process), when);
}

class NoteWriter {
 public:
  void add(const std::string& line) {
    if (lines_ == kMostLines || text_.size() + line.size() > kMostBytes) {
      ++omitted_;
      return;
    }
    ++lines_;
    text_ += line;
  }
  void finish(const char* name, Notes& notes, Findings& findings) {
    if (omitted_ > 0) findings.add({Imperfection::left_out, fmt::format("{} lines of the note {}", omitted_, name)});
    if (!text_.empty()) notes[name] = std::move(text_);
  }

 private:
  std::string text_;
  std::size_t lines_ = 0;
  std::size_t omitted_ = 0;
};

}  // namespace

void note_task_names(const TaskNameHistory& names, Notes& notes, Findings& findings) {
  NoteWriter note;
  std::vector<TaskRename> renames = names.renamed();
  std::ranges::stable_sort(renames, {}, &TaskRename::time_ns);
  for (const auto& [tid, time_ns, name] : renames)
    if (name.find('\n') == std::string_view::npos) note.add(fmt::format("{} {} {}\n", time_ns, tid, name));
  note.finish("task_names", notes, findings);
}

void note_task_lives(const TaskLives& lives, Notes& notes, Findings& findings) {
  NoteWriter births;
  std::vector<TaskLife> by_time = lives.births();
  std::ranges::stable_sort(by_time, {}, &TaskLife::born_ns);
  for (const TaskLife& life : by_time)
    births.add(fmt::format("{} {} {}{}\n", life.born_ns, life.tid, std::max(life.creator, 0),
                           !life.knows_kind ? ""
                           : life.is_thread ? " thread"
                                            : " process"));
  births.finish("task_births", notes, findings);
  for (std::size_t i = 0; i < kNotesOfProc.size(); ++i) {
    NoteWriter note;
    for (const auto& [tid, known] : lives.noted(kNoted[i]))
      note.add(known.group == tid ? fmt::format("{} {} {} {}\n", tid, known.parent, known.pid_space, known.cgroup)
                                  : fmt::format("{} {}\n", tid, known.group));
    note.finish(kNotesOfProc[i], notes, findings);
  }
}

void read_task_notes(const ClockScale& scale, TraceInfo& info) {
  for (std::size_t i = 0; i < kNotesOfProc.size(); ++i)
    each_line(info, kNotesOfProc[i], [&](std::uint64_t id, std::uint64_t parent, std::string_view rest) {
      learn_task(id, parent, rest, kNoted[i], info.tasks.lives);
    });
  for (const char* const note : {"pods", "pods_later"})
    read_pod_names(note_in(info.recording.notes, note), info.tasks.pods);
  each_line(info, "cgroup_moves", [&](std::uint64_t ticks, std::uint64_t tid, std::string_view cgroup) {
    info.tasks.lives.moved(static_cast<std::int32_t>(tid), scale.to_ns(ticks), cgroup);
  });
  each_line(info, "task_births", [&](std::uint64_t ticks, std::uint64_t tid, std::string_view rest) {
    const auto creator = take_number_and_blank(rest);
    if (!creator) return;
    info.tasks.lives.born({static_cast<std::int32_t>(tid), scale.to_ns(ticks), static_cast<std::int32_t>(*creator),
                           rest == "thread" || rest == "process", rest == "thread"});
  });
  each_line(info, "task_names", [&](std::uint64_t ticks, std::uint64_t tid, std::string_view name) {
    info.tasks.names.called_since(static_cast<std::int32_t>(tid), scale.to_ns(ticks), name);
  });
}

}  // namespace kmt
