// SPDX-License-Identifier: GPL-2.0-or-later
// Converts reports in the kernel's log to the texts of a snapshot, and parses the text "oom" of a snapshot.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/words.hpp"
#include "snapshot/oom_report.hpp"
#include "snapshot/parsers.hpp"

namespace kmt {

namespace {

using Number = std::optional<std::uint64_t>;

Number number_of(const LogNumbers& numbers, std::string_view name) {
  const auto found = numbers.find(name);
  return found == numbers.end() ? std::nullopt : Number(found->second);
}

// Returns the number of the line whose text starts with these words. The words after them differ between kernels.
Number find_line(const OomReport& report, std::string_view words) {
  const auto found = report.lines.lower_bound(words);
  return found == report.lines.end() || !found->first.starts_with(words) ? std::nullopt : Number(found->second);
}

// Adds up a number of all nodes. Empty if a node lacks it.
Number of_nodes(const OomReport& report, std::string_view name) {
  Number sum = report.nodes.empty() ? Number() : Number(0);
  for (const auto& [node, numbers] : report.nodes) {
    const auto number = number_of(numbers, name);
    sum = sum && number ? Number(*sum + *number) : std::nullopt;
  }
  for (const auto& [zone, numbers] : report.zones)
    if (!report.nodes.contains(zone.first)) return std::nullopt;  // the line of this node is lost
  return sum;
}

// Adds up a number of all zones. Empty if a zone lacks it.
Number of_zones(const OomReport& report, std::string_view name) {
  Number sum = report.zones.empty() ? Number() : Number(0);
  for (const auto& [zone, part] : report.zones) {
    const auto number = number_of(part.numbers, name);
    sum = sum && number ? Number(*sum + *number) : std::nullopt;
  }
  return sum;
}

std::uint64_t kb_of_page(const OomReport& report) { return report.page_size >> 10; }

// Returns a counter of the machine in pages. If its line is lost, adds up the lines of nodes, or those of zones before
// Linux 4.8.
Number counted_pages(const OomReport& report, std::string_view name) {
  if (const auto total = number_of(report.totals, name)) return total;
  std::string in_parts(name);
  if (name == "isolated_anon") in_parts = "isolated(anon)";
  if (name == "isolated_file") in_parts = "isolated(file)";
  Number sum = of_nodes(report, in_parts);
  if (!sum) sum = of_zones(report, in_parts);
  return sum ? Number(*sum / kb_of_page(report)) : std::nullopt;
}

Number kb(const OomReport& report, Number pages) { return pages ? Number(*pages * kb_of_page(report)) : std::nullopt; }

Number free_pages(const OomReport& report) {
  if (const auto free = counted_pages(report, "free")) return free;
  return find_line(report, "free pages");  // on Arm before Linux 3.13
}

Number total_pages(const OomReport& report) {
  Number all = find_line(report, "pages RAM");
  if (!all) all = find_line(report, "pages of RAM");
  Number reserved = find_line(report, "pages reserved");
  if (!reserved) reserved = find_line(report, "reserved pages");
  if (all && reserved && *all >= *reserved) return *all - *reserved;
  const auto managed = of_zones(report, "managed");
  return managed ? Number(*managed / kb_of_page(report)) : std::nullopt;
}

// Returns the size of kernel stacks in kB. Reports show this size for each node since Linux 5.9, and for each zone
// before.
Number stack_kb(const OomReport& report) {
  const auto of_node = of_nodes(report, "kernel_stack");
  return of_node ? of_node : of_zones(report, "kernel_stack");
}

Number sum_if_known(Number a, Number b) { return a && b ? Number(*a + *b) : std::nullopt; }

std::string meminfo_of(const OomReport& report) {
  std::string text;
  const auto add = [&text](std::string_view name, Number value) {
    if (value) text += fmt::format("{}: {} kB\n", name, *value);
  };
  const auto add_pages = [&](std::string_view name, Number pages) { add(name, kb(report, pages)); };
  const auto total = [&](std::string_view name) { return counted_pages(report, name); };
  const Number reclaimable = total("slab_reclaimable");
  const Number slab = sum_if_known(reclaimable, total("slab_unreclaimable"));
  Number swap_cached = find_line(report, "pages in swap cache");
  if (!swap_cached) swap_cached = find_line(report, "pages swap cached");
  add_pages("MemTotal", total_pages(report));
  add_pages("MemFree", free_pages(report));
  add_pages("SwapCached", swap_cached);
  add_pages("Active", total("active"));  // Linux 2.6.27 and earlier
  add_pages("Inactive", total("inactive"));
  add_pages("AnonPages", total("mapped-anon"));
  add_pages("Active(anon)", total("active_anon"));
  add_pages("Inactive(anon)", total("inactive_anon"));
  add_pages("Active(file)", total("active_file"));
  add_pages("Inactive(file)", total("inactive_file"));
  add_pages("Unevictable", total("unevictable"));
  add("SwapTotal", find_line(report, "Total swap"));
  add("SwapFree", find_line(report, "Free swap"));
  add_pages("Dirty", total("dirty"));
  add_pages("Writeback", total("writeback"));
  add_pages("Mapped", total("mapped"));
  add_pages("Shmem", total("shmem"));
  add_pages("KReclaimable", sum_if_known(reclaimable, total("kernel_misc_reclaimable")));
  add_pages("Slab", slab ? slab : total("slab"));
  add_pages("SReclaimable", reclaimable);
  add_pages("SUnreclaim", total("slab_unreclaimable"));
  add("KernelStack", stack_kb(report));
  add_pages("PageTables", total("pagetables"));
  add_pages("SecPageTables", total("sec_pagetables"));
  add_pages("Bounce", total("bounce"));
  add_pages("HardwareCorrupted", find_line(report, "pages hwpoisoned"));
  add("AnonHugePages", of_nodes(report, "anon_thp"));
  add("ShmemHugePages", of_nodes(report, "shmem_thp"));
  add_pages("CmaTotal", find_line(report, "pages cma reserved"));
  add_pages("CmaFree", total("free_cma"));
  add("Hugetlb", report.hugetlb_kb);
  return text;
}

std::string vmstat_of(const OomReport& report) {
  std::string text;
  const auto add = [&text](std::string_view name, Number value) {
    if (value) text += fmt::format("{} {}\n", name, *value);
  };
  add("nr_free_pages", free_pages(report));
  add("nr_file_pages", find_line(report, "total pagecache pages"));
  add("nr_kernel_misc_reclaimable", number_of(report.totals, "kernel_misc_reclaimable"));
  add("nr_isolated_anon", counted_pages(report, "isolated_anon"));
  add("nr_isolated_file", counted_pages(report, "isolated_file"));
  add("nr_shmem", counted_pages(report, "shmem"));
  add("nr_page_table_pages", counted_pages(report, "pagetables"));
  return text;
}

std::string zoneinfo_of(const OomReport& report) {
  std::string text;
  for (const auto& [name, zone] : report.zones) {
    text += fmt::format("Node {}, zone {}\n", name.first, name.second);
    for (const char* const number : {"free", "min", "low", "high", "present", "managed"})
      if (const auto value = number_of(zone.numbers, number))
        text += fmt::format("  {}{} {}\n", number == std::string_view("free") ? "pages " : "", number,
                            *value / kb_of_page(report));
    const Number listed = number_of(zone.numbers, "free_pcp");
    if (listed || zone.cpu_list_pages != 0)
      text += fmt::format("  pagesets\n    cpu: 0\n      count: {}\n",
                          listed ? *listed / kb_of_page(report) : zone.cpu_list_pages);
  }
  return text;
}

std::string buddyinfo_of(const OomReport& report) {
  std::string text;
  for (const auto& [name, zone] : report.zones) {
    if (zone.free.empty()) continue;
    text += fmt::format("Node {}, zone {}", name.first, name.second);
    for (const std::uint64_t count : zone.free) text += fmt::format(" {}", count);
    text += '\n';
  }
  return text;
}

}  // namespace

std::optional<std::uint64_t> total_bytes_of(const OomReport& report) {
  const auto pages = total_pages(report);
  return pages ? std::optional(*pages * report.page_size) : std::nullopt;
}

StateSample sample_of(const OomReport& report) {
  StateSample sample;
  if (report.has_year) sample.unix_ns = report.wall_ns.value_or(0);
  const auto add = [&sample](const char* name, std::string text) {
    if (!text.empty()) sample.texts.emplace_back(name, std::move(text));
  };
  add("meminfo", meminfo_of(report));
  add("vmstat", vmstat_of(report));
  add("zoneinfo", zoneinfo_of(report));
  add("buddyinfo", buddyinfo_of(report));
  std::string missing = "slabinfo\tthe kernel's log has no slabinfo\tcopy /proc/slabinfo\n";
  if (!report.allocations.empty()) {
    std::string allocations;
    for (const std::string& line : report.allocations) allocations.append(line).append("\n");
    add("allocinfo", std::move(allocations));
    missing += "allocinfo\tthe kernel's log has only the largest call sites\tcopy /proc/allocinfo\n";
  }
  if (report.is_cut) missing += "log\tthe report is larger than on any kernel: the rest is dropped\t\n";
  add("oom", report.text);
  add("missing", std::move(missing));
  return sample;
}

void parse_oom(std::string_view text, KernelMemory& memory) {
  if (text.empty()) return;
  memory.oom.emplace();
  std::vector<OomReport> reports = oom_reports(text);
  if (reports.empty()) return;
  memory.oom = std::move(reports.front().kill);
  memory.unreclaimable_slabs = std::move(reports.front().slabs);
  if (memory.release.empty()) memory.release = std::move(reports.front().release);
}

}  // namespace kmt
