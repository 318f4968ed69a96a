// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/trace_description.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "formats/ftrace/event_format.hpp"
#include "formats/task_notes.hpp"
#include "trace/note_lines.hpp"

namespace kmt {

namespace {

std::uint64_t number_after(std::string_view text, std::string_view key) {
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with(key)) return parse_leading<std::uint64_t>(trim(line.substr(key.size()))).value_or(0);
  }
  return 0;
}

constexpr std::string_view kFound = "found: ";

// Findings that a conversion must copy to the new trace. Readers of the new trace find all others again: losses of
// known size, and records with impossible values.
constexpr Imperfection kInherited[] = {Imperfection::missing_cpu,      Imperfection::interrupted_recording,
                                       Imperfection::cut_off_cpu,      Imperfection::unknown_loss,
                                       Imperfection::truncated_file,   Imperfection::unfinished_file,
                                       Imperfection::repaired_file,    Imperfection::damaged_section,
                                       Imperfection::damaged_block,    Imperfection::damaged_record,
                                       Imperfection::damaged_page,     Imperfection::damaged_stream,
                                       Imperfection::torn_record,      Imperfection::damaged_number,
                                       Imperfection::ambiguous_layout, Imperfection::unreadable_line,
                                       Imperfection::hashed_pointers,  Imperfection::sampled_events,
                                       Imperfection::late_event,       Imperfection::left_out,
                                       Imperfection::cut_off_field,    Imperfection::assumed_page_size,
                                       Imperfection::some_tasks,       Imperfection::hidden_pointers,
                                       Imperfection::repeated_lines,   Imperfection::collapsed_calls};

void add_found(std::string_view line, Findings& findings) {
  const auto word = [&line] {
    const std::string_view first = line.substr(0, line.find(' '));
    line.remove_prefix(std::min(first.size() + 1, line.size()));
    return first;
  };
  const std::string_view id = word();
  const auto* const kind = std::ranges::find(kInherited, id, [](Imperfection one) { return describe(one).id; });
  if (kind == std::end(kInherited)) {
    findings.add({Imperfection::unknown_section, fmt::format("finding of unknown kind: {}", printable(id))});
    return;
  }
  const unsigned times = parse_leading<unsigned>(word()).value_or(1);
  const std::optional<unsigned> cpu = parse_leading<unsigned>(word());
  findings.add({*kind, fmt::format("before conversion{}{}", line.empty() ? "" : ": ", printable(line)), cpu, {}, {}},
               times);
}

// Adds losses that belong to no particular CPU. Converted traces have such losses.
void add_lost_somewhere(std::uint64_t count, TraceInfo& info) {
  if (count == 0) return;
  info.losses.somewhere += count;
  info.findings.add(
      {Imperfection::lost_events, fmt::format("{} event{}, of any CPU", count, count == 1 ? "" : "s"), {}, {}, {}},
      count);
}

// Reads "now ts: 12345.678901" as nanoseconds. If the clock does not count nanoseconds, the number after "now ts:" is
// in ticks.
std::uint64_t ticks_of_counts(std::string_view text) {
  constexpr std::string_view kKey = "now ts:";
  const std::size_t at = text.find(kKey);
  if (at == std::string_view::npos) return 0;
  std::string_view line = trim(text.substr(at + kKey.size(), text.find('\n', at) - at - kKey.size()));
  const std::uint64_t whole = take_number<std::uint64_t>(line).value_or(0);
  if (!line.starts_with('.')) return whole;
  return whole * 1'000'000'000 + parse_leading<std::uint64_t>(line.substr(1)).value_or(0) * 1000;
}

void read_cpu_stats(const std::vector<std::string>& texts, const ClockScale& scale, TraceInfo& info) {
  for (const std::string& text : texts) {
    if (text.starts_with(kFound)) {
      for (const std::string_view line : split(text, '\n'))
        if (line.starts_with(kFound)) add_found(line.substr(kFound.size()), info.findings);
      continue;
    }
    if (text.find("CPU:") == std::string::npos) {
      add_lost_somewhere(number_after(text, "dropped events:"), info);
      continue;
    }
    BufferStatistics statistics;
    statistics.cpu = static_cast<unsigned>(std::min<std::uint64_t>(number_after(text, "CPU:"), 0xFFFF));
    statistics.entries = number_after(text, "entries:");
    const std::uint64_t overwritten = number_after(text, "overrun:");
    const std::uint64_t without_room = number_after(text, "full rings:");
    statistics.overrun = overwritten + without_room;
    statistics.commit_overrun = number_after(text, "commit overrun:");
    statistics.dropped = number_after(text, "dropped events:");
    statistics.read = number_after(text, "read events:");
    statistics.not_recorded = number_after(text, "not recorded:");
    if (const std::uint64_t ticks = ticks_of_counts(text); ticks != 0) statistics.counted_ns = scale.to_ns(ticks);
    info.losses.buffers.push_back(statistics);
    if (statistics.not_recorded > 0)
      info.findings.add({Imperfection::interrupted_recording,
                         "they were still in the kernel's buffers when the recorder gave up", statistics.cpu},
                        statistics.not_recorded);
    if (number_after(text, "cleared at boot:") > 0)
      info.findings.add({Imperfection::missing_cpu, "the kernel discarded its events at boot", statistics.cpu});
    if (without_room > 0)
      info.findings.add({Imperfection::lost_events,
                         fmt::format("the rings of BPF programs had no room for {}", without_room), statistics.cpu},
                        0);
    if (overwritten + statistics.commit_overrun + statistics.dropped > 0)
      info.findings.add(
          {Imperfection::lost_events,
           fmt::format("the ring buffer's counters: {} overrun, {} refused because of nesting, {} dropped", overwritten,
                       statistics.commit_overrun, statistics.dropped),
           statistics.cpu},
          0);
    if (text.find("\nnode:") == std::string::npos) continue;
    if (info.machine.cpu_nodes.size() <= statistics.cpu) info.machine.cpu_nodes.resize(statistics.cpu + 1, kNoNode);
    info.machine.cpu_nodes[statistics.cpu] = static_cast<std::int16_t>(number_after(text, "node:"));
  }
}

// Reads the names of tasks from lines "PID COMM".
void read_comms(std::string_view text, TraceInfo& info) {
  for (std::string_view line : split(text, '\n'))
    if (const auto pid = take_number<std::int32_t>(line); pid && !line.empty()) info.tasks.comms[*pid] = line.substr(1);
}

// Reads thread groups from lines "TID TGID".
void read_thread_groups(std::string_view text, TraceInfo& info) {
  for (std::string_view line : split(text, '\n')) {
    const auto tid = take_number<std::int32_t>(line);
    if (!tid || !line.starts_with(' ')) continue;
    if (const auto group = parse_leading<std::int32_t>(line.substr(1))) info.tasks.thread_groups[*tid] = *group;
  }
}

std::uint64_t number_of_note(const TraceInfo& info, const char* name) {
  return parse_leading<std::uint64_t>(note_in(info.recording.notes, name)).value_or(0);
}

// Reads the note "cpu_changes", which has lines "TICKS CPU online|offline".
void find_cpu_changes(const ClockScale& scale, TraceInfo& info) {
  const auto note = info.recording.notes.find("cpu_changes");
  if (note == info.recording.notes.end()) return;
  for (const std::string_view line : split(note->second, '\n')) {
    const auto words = split(line, ' ');
    if (words.size() != 3) continue;
    const auto ticks = parse_leading<std::uint64_t>(words[0]);
    const auto cpu = parse_leading<unsigned>(words[1]);
    if (!ticks || !cpu) continue;
    info.findings.add({Imperfection::cpu_changed,
                       words[2] == "online" ? "it came online" : "it went offline",
                       std::min(*cpu, 0xFFFFu),
                       {},
                       scale.to_ns(*ticks)});
  }
}

}  // namespace

void take_user_memory(UserMemory memory, TraceInfo& info) {
  for (CodeObject& object : memory.objects) info.code.user.objects.push_back(std::move(object));
  for (SpaceChange& change : memory.changes) {
    change.object += UserCode::kFirstObject;
    info.code.address_spaces.add(change);
  }
}

std::string uname_of(const KernelDescription& kernel) {
  return fmt::format("{} {} {} {}", kernel.system_name, kernel.node_name, kernel.release, kernel.machine);
}

// Sets the names of the machine and its kernel from a text like "Linux HOST 6.1.0-47-amd64 x86_64". A version may
// precede the last two words.
void name_machine(std::string_view uname, KernelDescription& kernel) {
  const std::vector<std::string_view> words = split(trim(uname), ' ');
  if (words.size() < 4) return;
  kernel.system_name = words.front();
  kernel.node_name = words[1];
  kernel.release = words[words.size() - 2];
  kernel.machine = words.back();
}

std::string cpu_stats_of(const KernelDescription& kernel, unsigned cpu, const std::string& statistics) {
  std::string text = fmt::format("CPU: {}\n{}", cpu, statistics);
  // "node: N" is a line that kmemtrace adds to the kernel's statistics. trace-cmd shows such lines unchanged.
  if (cpu < kernel.cpu_nodes.size() && kernel.cpu_nodes[cpu] >= 0 && text.find("\nnode:") == std::string::npos)
    text += fmt::format("node: {}\n", kernel.cpu_nodes[cpu]);
  return text;
}

std::string inherited_findings(const Findings& findings) {
  std::string text;
  for (const Imperfection kind : kInherited) {
    std::uint64_t rest = findings.count_of(kind);
    const auto add = [&](std::uint64_t times, std::optional<unsigned> cpu, const std::string& detail) {
      text += fmt::format("{}{} {} {} {}\n", kFound, describe(kind).id, times, cpu ? fmt::format("{}", *cpu) : "-",
                          printable(detail));
      rest -= times;
    };
    for (const Finding& finding : findings.kept())
      if (finding.kind == kind && rest > 0) add(1, finding.cpu, finding.detail);
    if (rest > 0) add(rest, {}, "");
  }
  return text;
}

void describe_machine(TraceDescription& description, TraceInfo& info) {
  KernelDescription& kernel = description.kernel;
  info.machine.byte_order = kernel.byte_order;
  info.machine.page_size = kernel.page_size;
  if (!kernel.header_page.empty()) info.machine.word_bits = long_bytes_of_header_page(kernel.header_page) * 8;
  info.clock.name = kernel.clock;
  info.machine.cpus = kernel.cpus;
  info.clock.in_ns = kernel.clock_scale.mult != 0 || ticks_are_ns(kernel.clock);
  if (!info.clock.in_ns) info.findings.add({Imperfection::clock_not_nanoseconds, printable(kernel.clock)});
  info.code.kallsyms = std::move(kernel.kallsyms).text();
  info.calls.types = std::move(kernel.call_types);
  const std::string blank = fmt::format(" {}", kBlankField);
  info.calls.are_blank = std::ranges::any_of(kernel.formats, [&blank](const FormatText& format) {
    return (format.system == "ftrace" || format.system == "kmemtrace") && format.text.find(blank) != std::string::npos;
  });
  take_user_memory(std::move(kernel.user_memory), info);
  name_machine(description.uname, kernel);
  // "unknown" is what readers write for a missing word of `uname`.
  const auto known = [](const std::string& word) { return word == "unknown" ? std::string() : word; };
  info.machine.kernel = known(kernel.release);
  info.machine.arch = known(kernel.machine);
  read_comms(kernel.saved_cmdlines, info);
  read_thread_groups(kernel.thread_groups, info);
  info.machine.cpu_nodes.assign(kernel.cpu_nodes.begin(), kernel.cpu_nodes.end());
  read_cpu_stats(description.cpu_stats, kernel.clock_scale, info);
  info.recording.notes = std::move(kernel.notes);
  if (!known(kernel.node_name).empty()) info.recording.notes["host"] = kernel.node_name;
  for (const auto& [name, kind] :
       {std::pair{"some_tasks", Imperfection::some_tasks}, std::pair{"some_cpus", Imperfection::some_cpus},
        std::pair{"lost_cgroup_moves", Imperfection::lost_cgroup_moves},
        std::pair{"lost_mappings", Imperfection::lost_mappings},
        std::pair{"late_mappings", Imperfection::late_mappings},
        std::pair{"unprobed_functions", Imperfection::unprobed_functions},
        std::pair{"unanswered_build_ids", Imperfection::no_user_build_ids}})
    if (const auto note = info.recording.notes.find(name); note != info.recording.notes.end())
      info.findings.add({kind, printable(note->second), {}, {}, {}});
  read_task_notes(kernel.clock_scale, info);
  find_cpu_changes(kernel.clock_scale, info);
  if (const auto note = info.recording.notes.find("module_changes"); note != info.recording.notes.end())
    info.code.module_changes = parse_module_changes(note->second, kernel.clock_scale);
  if (const std::uint64_t suspended = number_of_note(info, "suspended_ns"); suspended > 0)
    info.findings.add({Imperfection::suspended,
                       fmt::format("for {}.{:03} s", suspended / 1'000'000'000, suspended / 1'000'000 % 1000)});
  info.recording.samples = std::move(description.samples);
  for (StateSample& sample : info.recording.samples) sample.ticks = kernel.clock_scale.to_ns(sample.ticks);
}

void describe_trace(TraceDescription& description, TraceInfo& info) {
  if (description.kernel.header_page.empty())
    throw Error("Cannot read the ring buffers: the description of their pages is missing")
        .hint("The file is damaged, or was cut off before its description");
  describe_machine(description, info);
}

}  // namespace kmt
