// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "snapshot/log/memory_line.hpp"
#include "snapshot/log/oom_report.hpp"

namespace kmt {

namespace {

std::uint64_t number_or_0(const LogNumbers& numbers, std::string_view name) {
  const auto found = numbers.find(name);
  return found == numbers.end() ? 0 : found->second;
}

// Returns the size of a page in kB if both numbers state the same amount. Large amounts may differ a little, because
// the kernel reads them at different times.
std::optional<std::uint32_t> page_kb_of(std::uint64_t pages, std::uint64_t kb) {
  constexpr std::uint64_t kManyPages = 1024;
  constexpr std::uint64_t kFewPages = 16;
  for (const std::uint32_t size : {4u, 8u, 16u, 32u, 64u}) {
    const std::uint64_t expected = pages * size;
    const std::uint64_t difference = std::max(kb, expected) - std::min(kb, expected);
    if (pages >= kManyPages ? difference < expected / 16 : pages >= kFewPages && difference == 0) return size;
  }
  return std::nullopt;
}

// Returns the resident memory in kB from "Killed process 7 (a) total-vm:…, anon-rss:96kB, file-rss:4kB,
// shmem-rss:0kB". Before Linux 4.5, there is no shmem-rss.
std::optional<std::uint64_t> victim_rss_kb(std::string_view text) {
  const std::size_t begin = text.rfind("Killed process ");
  if (begin == text.npos) return std::nullopt;
  const std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  const auto anon = number_after(line, "anon-rss:");
  const auto file = number_after(line, "file-rss:");
  if (!anon || !file) return std::nullopt;
  return *anon + *file + number_after(line, "shmem-rss:").value_or(0);
}

// Returns the sum of a counter over all nodes or zones, in kB. Parts without this counter count as 0.
template <typename Parts, typename Numbers>
std::uint64_t kb_in(const Parts& parts, Numbers&& numbers_of, std::string_view name) {
  std::uint64_t kb = 0;
  for (const auto& [key, part] : parts) kb += number_or_0(numbers_of(part), name);
  return kb;
}

std::uint64_t kb_in_zones(const OomReport& report, std::string_view name) {
  return kb_in(
      report.zones, [](const LogZone& zone) -> const LogNumbers& { return zone.numbers; }, name);
}

// True if a total lacks digits. The kernel reads a total and its parts at different times. In between, a small total
// may grow by any factor, but a large one changes only by a small factor.
bool lacks_digits(std::uint64_t total, std::uint64_t parts) {
  constexpr std::uint64_t kFactor = 4;
  constexpr std::uint64_t kManyPages = 4096;
  return parts > kManyPages && total < parts / kFactor;
}

}  // namespace

void derive_page_size(OomReport& report) {
  report.has_page_size = std::ranges::any_of(report.zones, [](const auto& zone) { return !zone.second.free.empty(); });
  if (report.has_page_size) return;
  std::uint64_t pages = 0;
  std::uint64_t kb = 0;
  for (const char* const name : {"active_anon", "inactive_anon", "active_file", "inactive_file"}) {
    pages += number_or_0(report.totals, name);
    for (const auto& [number, node] : report.nodes) kb += number_or_0(node, name);
  }
  std::uint64_t free_kb = 0;
  for (const auto& [name, zone] : report.zones) free_kb += number_or_0(zone.numbers, "free");
  auto size = page_kb_of(pages, kb);
  if (!size) size = page_kb_of(number_or_0(report.totals, "free"), free_kb);
  if (const auto rss_kb = size ? std::nullopt : victim_rss_kb(report.text))
    for (const OomTask& task : report.kill.tasks)
      if (task.pid == report.kill.victim_pid) size = page_kb_of(task.rss_pages, *rss_kb);
  report.has_page_size = size.has_value();
  if (size) report.page_size = *size << 10;
}

void correct_shifted_counters(OomReport& report) {
  // Each name has the number of the name after it, and the last name has that of the first.
  constexpr std::array<std::string_view, 4> kNames = {"shmem", "shmem_thp", "shmem_pmdmapped", "anon_thp"};
  const auto has_all = [&](const auto& node) {
    return std::ranges::all_of(kNames, [&](std::string_view name) { return node.second.contains(name); });
  };
  if (report.nodes.empty() || !std::ranges::all_of(report.nodes, has_all)) return;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  for (const auto& [node, numbers] : report.nodes) {
    first += number_or_0(numbers, kNames.front());
    last += number_or_0(numbers, kNames.back());
  }
  const std::uint64_t shmem_kb = number_or_0(report.totals, "shmem") * (report.page_size >> 10);
  if (shmem_kb == 0 || last != shmem_kb || first == shmem_kb) return;
  for (auto& [node, numbers] : report.nodes) {
    const std::uint64_t of_last = number_or_0(numbers, kNames.back());
    for (std::size_t i = kNames.size() - 1; i > 0; --i)
      numbers.find(kNames[i])->second = number_or_0(numbers, kNames[i - 1]);
    numbers.find(kNames.front())->second = of_last;
  }
}

void drop_damaged_totals(OomReport& report) {
  const std::uint64_t page_kb = report.page_size >> 10;
  std::erase_if(report.totals, [&](const auto& total) {
    const auto itself = [](const LogNumbers& numbers) -> const LogNumbers& { return numbers; };
    const std::uint64_t kb = std::max(kb_in(report.nodes, itself, total.first), kb_in_zones(report, total.first));
    const bool is_damaged = lacks_digits(total.second, kb / page_kb);
    if (is_damaged) report.damaged_totals.push_back(total.first);
    return is_damaged;
  });
  const auto ram = report.lines.lower_bound("pages RAM");
  const std::uint64_t present = kb_in_zones(report, "present") / page_kb;
  if (ram == report.lines.end() || !ram->first.starts_with("pages RAM") || !lacks_digits(ram->second, present)) return;
  report.damaged_totals.emplace_back("pages RAM");
  report.lines.erase(ram);
}

}  // namespace kmt
