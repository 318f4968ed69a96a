// SPDX-License-Identifier: GPL-2.0-or-later
// Parses files with names and numbers: meminfo, vmstat, sockstat, percpu_stats.
#include <algorithm>

#include <fmt/format.h>

#include "base/number.hpp"
#include "base/proc_text.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "snapshot/log/memory_line.hpp"
#include "snapshot/parsers.hpp"

namespace kmt {

namespace {

void parse_numbers(std::string_view text, std::string_view source, NamedAmounts& numbers, KernelMemory& memory) {
  each_line(text, [&](std::string_view line) {
    if (trim(line).empty()) return;
    if (const auto found = parse_proc_line(line))
      numbers.push_back({std::string(found->name), found->value, found->in_bytes});
    else
      keep_unknown(source, line, memory);
  });
}

// True if each number without a unit is a multiple of 1024, so a program has converted kB to bytes.
bool are_bytes(const NamedAmounts& numbers) {
  constexpr std::ptrdiff_t kEnough = 8;
  constexpr std::uint64_t kKb = 1024;
  const auto is_amount = [](const NamedAmount& one) {
    return !one.in_bytes && one.value != 0 && !one.name.starts_with("HugePages_");
  };
  const auto is_multiple = [&](const NamedAmount& one) { return !is_amount(one) || one.value % kKb == 0; };
  return std::ranges::count_if(numbers, is_amount) >= kEnough && std::ranges::all_of(numbers, is_multiple);
}

// True if lines such as "Slab:" have no number, because their ends were cut. Other lines may then lack digits.
bool are_cut(std::string_view text) {
  constexpr int kMany = 3;
  int without_number = 0;
  each_line(text, [&](std::string_view line) {
    line = trim(line);
    if (line.ends_with(':') && line.find(' ') == line.npos) ++without_number;
  });
  return without_number >= kMany;
}

// If the line of MemTotal has a unit, moves lines without one to the unknown lines, because they may have been cut.
void drop_lines_without_unit(KernelMemory& memory) {
  const auto total = std::ranges::find(memory.meminfo, "MemTotal", &NamedAmount::name);
  if (total == memory.meminfo.end() || !total->in_bytes) return;
  std::erase_if(memory.meminfo, [&](const NamedAmount& one) {
    const bool has_unit = one.in_bytes || one.name.starts_with("HugePages_");
    if (!has_unit) keep_unknown("meminfo", fmt::format("{}: {}", one.name, one.value), memory);
    return !has_unit;
  });
}

// Adds the unit kB if a program such as awk has removed it. In an unchanged meminfo, only the numbers of huge pages
// have no unit.
void add_lost_unit(NamedAmounts& numbers) {
  const auto total = std::ranges::find(numbers, "MemTotal", &NamedAmount::name);
  if (total == numbers.end() || total->in_bytes) return;
  const std::uint64_t unit = are_bytes(numbers) ? 1 : 1024;
  std::erase_if(numbers, [unit](const NamedAmount& one) { return one.value > kMostNumber / unit; });
  for (NamedAmount& one : numbers) {
    if (one.in_bytes || one.name.starts_with("HugePages_")) continue;
    one.value *= unit;
    one.in_bytes = true;
  }
}

// Parses a number with two decimals: "2.50".
std::optional<double> parse_percent(std::string_view text) {
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos || text.size() != point + 3) return std::nullopt;
  const auto whole = parse_number<std::uint32_t>(text.substr(0, point));
  const auto hundredths = parse_number<std::uint32_t>(text.substr(point + 1));
  if (!whole || !hundredths) return std::nullopt;
  return *whole + *hundredths / 100.0;
}

}  // namespace

void keep_unknown(std::string_view source, std::string_view line, KernelMemory& memory) {
  constexpr std::ptrdiff_t kMostOfASource = 5;
  constexpr std::size_t kMostBytes = 200;
  ++memory.unknown_lines;
  const auto known = std::count_if(memory.unknown.begin(), memory.unknown.end(),
                                   [source](const UnknownLine& one) { return one.source == source; });
  if (known < kMostOfASource) memory.unknown.push_back({std::string(source), std::string(line.substr(0, kMostBytes))});
}

void parse_meminfo(std::string_view text, KernelMemory& memory) {
  // Drop an incomplete last line, because the number in it may lack digits.
  if (!text.empty() && !text.ends_with('\n') && !text.ends_with(" kB")) {
    memory.missing.push_back({"meminfo", "its last line is cut off", "copy /proc/meminfo as a whole"});
    text = text.substr(0, text.rfind('\n') + 1);  // if nothing is found, npos + 1 is 0
  }
  if (are_cut(text)) {
    memory.missing.push_back({"meminfo", "the ends of its lines are cut off", "copy /proc/meminfo as a whole"});
    return;
  }
  parse_numbers(text, "meminfo", memory.meminfo, memory);
  drop_lines_without_unit(memory);
  add_lost_unit(memory.meminfo);
}

void parse_vmstat(std::string_view text, KernelMemory& memory) { parse_numbers(text, "vmstat", memory.vmstat, memory); }

void parse_recorder(std::string_view text, KernelMemory& memory) {
  parse_numbers(text, "recorder", memory.recorder, memory);
}

void parse_pressure(std::string_view text, KernelMemory& memory) {
  constexpr std::string_view kTotal = "total=";
  constexpr std::string_view kAverage = "avg300=";  // percent
  each_line(text, [&](std::string_view line) {
    Words words(line);
    const std::string_view name = words.next();
    std::string_view last;
    std::optional<double> percent;
    while (!words.empty()) {
      last = words.next();
      if (last.starts_with(kAverage)) percent = parse_percent(last.substr(kAverage.size()));
    }
    if (name == "some" && percent && *percent >= 0 && *percent <= 100) memory.pressure_in_5_minutes = *percent / 100;
    const auto total =
        last.starts_with(kTotal) ? parse_number<std::uint64_t>(last.substr(kTotal.size())) : std::nullopt;
    if (total && (name == "some" || name == "full"))
      memory.pressure.push_back({std::string(name), *total});
    else
      keep_unknown("pressure", line, memory);
  });
}

// Parses /proc/net/sockstat. Lines are like "TCP: inuse 31 orphan 0 tw 0 alloc 31 mem 227": a protocol, followed by
// pairs of a name and a value.
void parse_sockstat(std::string_view text, KernelMemory& memory) {
  each_line(text, [&](std::string_view line) {
    Words words(line);
    const std::string_view protocol = words.next();
    if (protocol.empty()) return;
    if (!protocol.ends_with(':')) return keep_unknown("sockstat", line, memory);
    while (!words.empty()) {
      const std::string_view what = words.next();
      const std::optional<std::uint64_t> value = whole_number(words.next());
      if (!value) return keep_unknown("sockstat", line, memory);
      const bool in_bytes = protocol == "FRAG:" && what == "memory";
      memory.sockets.push_back(
          {std::string(protocol.substr(0, protocol.size() - 1)) + ' ' + std::string(what), *value, in_bytes});
    }
  });
}

// Parses percpu_stats. Lines are like " unit_size : 1048576" or "Chunk: <- First Chunk". The first chunk is not part of
// MemTotal.
void parse_percpu_stats(std::string_view text, KernelMemory& memory) {
  bool in_chunks = false;
  each_line(text, [&](std::string_view line) {
    in_chunks = in_chunks || line.starts_with("Per Chunk");
    const std::size_t colon = line.find(':');
    if (in_chunks || colon == std::string_view::npos) return;
    const std::string_view name = trim(line.substr(0, colon));
    const std::string_view value = trim(line.substr(colon + 1));
    if (const auto number = whole_number(value))
      memory.percpu.values.push_back({std::string(name), *number, false});
    else if (!value.empty())
      keep_unknown("percpu_stats", line, memory);
  });
}

void parse_boot_messages(std::string_view text, KernelMemory& memory) {
  std::uint64_t pages = 0;
  std::uint64_t cpus = 0;
  each_line(text, [&](std::string_view line) {
    if (line.find("percpu:") == std::string_view::npos) return;
    if (const auto found = number_after(line, "percpu: Embedded ")) pages = *found;
    if (const auto found = number_after(line, "nr_cpu_ids:")) cpus = *found;
  });
  constexpr std::uint64_t kMost = 1 << 20;
  if (pages == 0 || cpus == 0 || pages > kMost || cpus > kMost) return;
  memory.percpu.first_chunk_bytes = pages * cpus * memory.page_size;
}

}  // namespace kmt
