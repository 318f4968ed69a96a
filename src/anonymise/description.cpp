// SPDX-License-Identifier: GPL-2.0-or-later
#include "anonymise/description.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/number.hpp"
#include "formats/task_notes.hpp"
#include "trace/note_lines.hpp"
#include "trace/recorder_arguments.hpp"

namespace kmt {

namespace {

using Names = std::span<const std::string_view>;

bool is_among(Names names, std::string_view name) { return std::ranges::find(names, name) != names.end(); }

// Notes that are kept unchanged. They describe the kernel's build, its allocators and losses, and do not identify the
// machine.
constexpr std::array<std::string_view, 22> kNotesAsTheyAre = {
    "recorder",          "recorded_at",       "some_cpus",        "kernel_version",
    "kernel_config",     "kernel_build_id",   "module_build_ids", "module_directories",
    "cpu_changes",       "suspended_ns",      "cpus_online",      "missed",
    "refused_functions", "lost_cgroup_moves", "lost_mappings",    "late_mappings",
    "recorder_tasks",    "tasks_32_bit",      "task_births",      "unanswered_build_ids",
    "wall_clock_set_ns", "unprobed_functions"};

constexpr std::array<std::string_view, 14> kTextsAsTheyAre = {
    "meminfo",      "vmstat",    "zoneinfo", "missing",      "sockstat",          "buddyinfo",    "slab",
    "pagetypeinfo", "allocinfo", "recorder", "percpu_stats", "page_owner_stacks", "node_meminfo", "older"};

template <typename Change>
std::string each_line(std::string_view text, Change change) {
  std::string result;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    result += change(line);
    result += '\n';
  }
  return result;
}

// Replaces the task name in each line. `numbers` is how many numbers precede the name: 1 in "PID COMM", and 2 in "TICKS
// TID NAME".
std::string task_names(std::string_view text, int numbers, const Pseudonyms& pseudonyms) {
  return each_line(text, [&](std::string_view line) {
    std::size_t name = 0;
    for (int i = 0; i < numbers; ++i) {
      const std::size_t blank = line.find(' ', name);
      if (blank == std::string_view::npos) return std::string();
      name = blank + 1;
    }
    return fmt::format("{}{}", line.substr(0, name), pseudonyms.task(line.substr(name)));
  });
}

// Replaces the cgroup path in lines "PID PARENT PID-SPACE CGROUP" or "TICKS TID CGROUP". Lines "TID PID" contain no
// path and stay.
std::string tasks(std::string_view text, const Pseudonyms& pseudonyms) {
  return each_line(text, [&](std::string_view line) {
    const std::size_t path = line.find('/');
    return fmt::format("{}{}", line.substr(0, path),
                       path == std::string_view::npos ? std::string() : pseudonyms.path(line.substr(path)));
  });
}

// Removes data addresses and moves code addresses in lines of /proc/vmallocinfo, such as "0xBEGIN-0xEND BYTES CALLER
// pages=N phys=0xADDRESS vmalloc N0=N". Fields are recognised by their form.
std::string vmallocinfo(std::string_view text, const CodeLayout& code) {
  return each_line(text, [&](std::string_view line) {
    std::string result = "0x0-0x0";
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) return result;
    for (std::string_view rest = line.substr(blank + 1); !rest.empty();) {
      const std::string_view word = rest.substr(0, rest.find(' '));
      if (const auto address = word.starts_with("0x") ? parse_hexadecimal(word) : std::nullopt)
        result += fmt::format(" {:#x}", code.moved(*address));
      else if (!word.empty() && !word.starts_with("phys="))
        result += fmt::format(" {}", word);
      rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    }
    return result;
  });
}

// Removes DETAIL from lines "found: ID TIMES CPU DETAIL", because DETAIL may contain names from the trace.
std::string without_details(std::string_view statistics) {
  return each_line(statistics, [](std::string_view line) {
    if (!line.starts_with("found: ")) return std::string(line);
    std::size_t end = 0;
    for (int word = 0; word < 4 && end != std::string_view::npos; ++word) end = line.find(' ', end + 1);
    return std::string(line.substr(0, end));
  });
}

// Replaces names of cgroups in lines "CACHE NUMBER …". Before Linux 5.9, the name of a cache may contain the name of a
// cgroup.
std::string slabinfo(std::string_view text, const Pseudonyms& pseudonyms) {
  return each_line(text, [&](std::string_view line) {
    const std::string_view name = line.substr(0, line.find(' '));
    return pseudonyms.cache(name) + std::string(line.substr(name.size()));
  });
}

// Replaces the path in lines "PATH/FILE:LINE".
std::string cgroups(std::string_view text, const Pseudonyms& pseudonyms) {
  return each_line(text, [&](std::string_view line) {
    const std::size_t file = line.rfind('/', line.rfind(':'));
    if (file == std::string_view::npos) return std::string(line);
    return pseudonyms.path(line.substr(0, file)) + std::string(line.substr(file));
  });
}

// Keeps only those lines of the kernel log that are needed to compute the balance sheet of a snapshot: "percpu:
// Embedded PAGES", and "nr_cpu_ids:CPUS" from "setup_percpu:".
std::string boot_messages(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.find("percpu: ") == std::string_view::npos) continue;
    for (const std::string_view words : {"Embedded ", "nr_cpu_ids:"})
      if (const std::size_t at = line.find(words); at != std::string_view::npos) {
        const std::string_view rest = line.substr(at + words.size());
        result += fmt::format("percpu: {}{}\n", words, rest.substr(0, rest.find_first_not_of("0123456789")));
      }
  }
  return result;
}

std::map<std::string, std::string> notes(const std::map<std::string, std::string>& from, const Pseudonyms& pseudonyms,
                                         const CodeLayout& code, std::vector<std::string>& omitted) {
  std::map<std::string, std::string> to;
  for (const auto& [name, text] : from) {
    if (is_among(kNotesAsTheyAre, name))
      to[name] = text;
    else if (name == "cgroup_moves" || std::ranges::find(kNotesOfProc, name) != kNotesOfProc.end())
      to[name] = tasks(text, pseudonyms);
    else if (name == "task_names")
      to[name] = task_names(text, 2, pseudonyms);
    else if (name == "boot_id")
      to[name] = pseudonyms.id(text);
    else if (name == "modules")
      to[name] = code.modules(text);
    else if (name == "module_sections" || name == "kernel_reference")
      to[name] = code.last_addresses(text);
    else if (name == "module_changes")
      to[name] = code.module_changes(text);
    else
      omitted.push_back(name);
  }
  return to;
}

StateSample sample(const StateSample& from, const Pseudonyms& pseudonyms, const CodeLayout& code,
                   std::vector<std::string>& omitted) {
  StateSample to{from.ticks, from.unix_ns, {}};
  for (const auto& [name, text] : from.texts) {
    if (is_among(kTextsAsTheyAre, name))
      to.texts.emplace_back(name, text);
    else if (name == "slabinfo")
      to.texts.emplace_back(name, slabinfo(text, pseudonyms));
    else if (name == "vmallocinfo")
      to.texts.emplace_back(name, vmallocinfo(text, code));
    else if (name == "cgroups")
      to.texts.emplace_back(name, cgroups(text, pseudonyms));
    else
      omitted.push_back(name);
    if (name == "oom") to.texts.emplace_back(name, "Mem-Info:\n");  // shows that meminfo is from a kernel log
    if (name != "dmesg") continue;                                  // dmesg is dropped, except for some lines
    if (std::string kept = boot_messages(text); !kept.empty()) to.texts.emplace_back(name, std::move(kept));
  }
  return to;
}

}  // namespace

TraceDescription anonymous(const TraceDescription& description, const Pseudonyms& pseudonyms, const CodeLayout& code,
                           std::vector<std::string>& omitted) {
  TraceDescription to = description;
  name_machine(description.uname, to.kernel);
  to.kernel.node_name = pseudonyms.host(to.kernel.node_name);
  to.uname = uname_of(to.kernel);
  to.kernel.kallsyms = code.kallsyms(description.kernel.kallsyms.text());
  for (std::string& statistics : to.cpu_stats) statistics = without_details(statistics);
  // The notes with the names of the recorded tasks are dropped. Keep the finding that only some tasks were recorded.
  if (names_some_tasks(description.kernel.notes)) {
    Findings found;
    found.add({Imperfection::some_tasks, {}, {}, {}, {}});
    to.cpu_stats.push_back(inherited_findings(found));
  }
  to.kernel.printk_formats.clear();  // dropped, like the events of trace_printk()
  to.kernel.saved_cmdlines = task_names(description.kernel.saved_cmdlines, 1, pseudonyms);
  to.kernel.notes = notes(description.kernel.notes, pseudonyms, code, omitted);
  to.kernel.late_notes = notes(description.kernel.late_notes, pseudonyms, code, omitted);
  to.kernel.call_types = {};
  to.kernel.user_memory = {};
  for (StateSample& one : to.samples) one = sample(one, pseudonyms, code, omitted);
  std::ranges::sort(omitted);
  omitted.erase(std::unique(omitted.begin(), omitted.end()), omitted.end());
  return to;
}

}  // namespace kmt
