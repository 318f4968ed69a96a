// SPDX-License-Identifier: GPL-2.0-or-later
// Converts reports in the kernel's log to the texts of a snapshot, and parses the text "oom" of a snapshot.
#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/words.hpp"
#include "snapshot/log/oom_report.hpp"
#include "snapshot/parsers.hpp"

namespace kmt {

namespace {

using Number = std::optional<std::uint64_t>;

Number number_of(const LogNumbers& numbers, std::string_view name) {
  const auto found = numbers.find(name);
  return found == numbers.end() ? std::nullopt : Number(found->second);
}

// Returns the number in the line whose text starts with these words. The rest of the text differs between kernels.
Number find_line(const OomReport& report, std::string_view words) {
  const auto found = report.lines.lower_bound(words);
  return found == report.lines.end() || !found->first.starts_with(words) ? std::nullopt : Number(found->second);
}

std::uint64_t kb_of_page(const OomReport& report) { return report.page_size >> 10; }

// True if two readings of a counter agree. Small differences are allowed, because other CPUs change the counter between
// the readings.
bool agree(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kFewPages = 256;
  return std::max(a, b) - std::min(a, b) <= std::max(a, b) / 64 + kFewPages;
}

// True if the numbers of parts, in kB, add up to the counter of the machine. If they do not, the report lacks parts. It
// was cut off, or the kernel printed only the nodes and zones from which the task may allocate.
template <typename Parts, typename Numbers>
bool add_up(const OomReport& report, const Parts& parts, Numbers&& numbers, std::string_view name, Number total) {
  std::uint64_t kb = 0;
  for (const auto& part : parts) {
    const Number number = number_of(numbers(part), name);
    if (!number) return false;
    kb += *number;
  }
  return total && !parts.empty() && agree(*total, kb / kb_of_page(report));
}

const LogNumbers& of_zone(const std::pair<const std::pair<unsigned, std::string>, LogZone>& zone) {
  return zone.second.numbers;
}
const LogNumbers& of_node(const std::pair<const unsigned, LogNumbers>& node) { return node.second; }

// Returns the sum of a number over all nodes or zones. Empty if a node or zone lacks this number.
template <typename Parts, typename Numbers>
Number sum_of(const Parts& parts, Numbers&& numbers, std::string_view name) {
  Number sum = 0;
  for (const auto& part : parts) {
    const Number number = number_of(numbers(part), name);
    sum = sum && number ? Number(*sum + *number) : std::nullopt;
  }
  return sum;
}

// True if the page lists of the nodes or zones have other lengths than those of the machine. Free pages alone do not
// show a missing node or zone, because it may have few free pages, but many pages of programs.
template <typename Parts, typename Numbers>
bool lacks_pages(const OomReport& report, const Parts& parts, Numbers&& numbers) {
  return std::ranges::any_of(std::array{"active_anon", "inactive_anon", "active_file", "inactive_file"},
                             [&](const char* list) {
                               const Number total = number_of(report.totals, list);
                               const Number in_parts = sum_of(parts, numbers, list);
                               return total && in_parts && !agree(*total, *in_parts / kb_of_page(report));
                             });
}

// True if the report has all zones of the machine. Since Linux 3.11, "pages RAM" is the sum of present pages. On older
// kernels, it may include holes in the address space.
bool has_all_zones(const OomReport& report) {
  if (lacks_pages(report, report.zones, of_zone)) return false;
  Number free = number_of(report.totals, "free");
  if (!free) free = find_line(report, "free pages");  // on Arm before Linux 3.13
  return add_up(report, report.zones, of_zone, "free", free) ||
         add_up(report, report.zones, of_zone, "present", find_line(report, "pages RAM"));
}

bool has_all_nodes(const OomReport& report) {
  if (lacks_pages(report, report.nodes, of_node)) return false;
  const bool has_node_of_each_zone =
      std::ranges::all_of(report.zones, [&](const auto& zone) { return report.nodes.contains(zone.first.first); });
  return add_up(report, report.nodes, of_node, "active_anon", number_of(report.totals, "active_anon")) ||
         (has_node_of_each_zone && has_all_zones(report));
}

Number of_nodes(const OomReport& report, std::string_view name) {
  return has_all_nodes(report) ? sum_of(report.nodes, of_node, name) : std::nullopt;
}

Number of_zones(const OomReport& report, std::string_view name) {
  return has_all_zones(report) ? sum_of(report.zones, of_zone, name) : std::nullopt;
}

// Returns a counter of the machine in pages. If its line is lost, returns the sum over all nodes, or before Linux 4.8
// the sum over all zones.
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

// Returns the number of "pages RAM", minus the reserved pages.
Number ram_pages(const OomReport& report) {
  Number all = find_line(report, "pages RAM");
  if (!all) all = find_line(report, "pages of RAM");
  Number reserved = find_line(report, "pages reserved");
  if (!reserved) reserved = find_line(report, "reserved pages");
  return all && reserved && *all >= *reserved ? Number(*all - *reserved) : std::nullopt;
}

Number total_pages(const OomReport& report) {
  if (const Number pages = ram_pages(report)) return pages;
  const Number managed = of_zones(report, "managed");
  return managed ? Number(*managed / kb_of_page(report)) : std::nullopt;
}

// Returns the pages in the per-CPU lists of a zone.
Number cpu_list_pages(const OomReport& report, const LogZone& zone) {
  const Number listed = number_of(zone.numbers, "free_pcp");
  return listed ? Number(*listed / kb_of_page(report)) : zone.cpu_list_pages;
}

Number all_cpu_list_pages(const OomReport& report) {
  if (const auto total = number_of(report.totals, "free_pcp")) return total;
  if (!has_all_zones(report)) return std::nullopt;
  Number sum = 0;
  for (const auto& [name, zone] : report.zones) {
    const Number pages = cpu_list_pages(report, zone);
    sum = sum && pages ? Number(*sum + *pages) : std::nullopt;
  }
  return sum;
}

// Returns the size of kernel stacks in kB. Reports of Linux 5.9 and later show this size for each node, and earlier
// reports show it for each zone.
Number stack_kb(const OomReport& report) {
  const auto of_node = of_nodes(report, "kernel_stack");
  return of_node ? of_node : of_zones(report, "kernel_stack");
}

// Returns the size of the huge pages of all nodes in kB. The line after those of huge pages shows that none of them was
// cut off. Empty if messages were lost, because lines of huge pages may be among them.
Number huge_page_kb(const OomReport& report) {
  if (report.lost_messages != 0) return std::nullopt;
  const bool has_all = find_line(report, "total pagecache pages") && (has_all_nodes(report) || has_all_zones(report));
  return has_all ? report.hugetlb_kb : std::nullopt;
}

Number sum_if_known(Number a, Number b) { return a && b ? Number(*a + *b) : std::nullopt; }

// True for a kernel without CONFIG_SWAP. It prints no line about swap between "total pagecache pages" and "pages RAM".
bool is_without_swap(const OomReport& report) {
  const auto has = [&](std::string_view words) { return find_line(report, words).has_value(); };
  return has("total pagecache pages") && has("pages RAM") && !has("Free swap") && !has("Total swap");
}

std::string meminfo_of(const OomReport& report) {
  std::string text;
  const auto add = [&text](std::string_view name, Number value) {
    if (value) text += fmt::format("{}: {} kB\n", name, *value);
  };
  const auto add_pages = [&](std::string_view name, Number pages) { add(name, kb(report, pages)); };
  const auto total = [&](std::string_view name) { return counted_pages(report, name); };
  const Number reclaimable = total("slab_reclaimable");
  Number slab = sum_if_known(reclaimable, total("slab_unreclaimable"));
  // for SLOB (until Linux 6.3), slab memory is only in this line of reports of Arm before Linux 3.13
  if (slab.value_or(0) == 0)
    if (const Number pages = find_line(report, "slab pages")) slab = pages;
  Number swap_cached = find_line(report, "pages in swap cache");
  if (!swap_cached) swap_cached = find_line(report, "pages swap cached");
  if (!swap_cached && is_without_swap(report)) swap_cached = 0;
  add_pages("MemTotal", total_pages(report));
  add_pages("MemFree", free_pages(report));
  add_pages("SwapCached", swap_cached);
  add_pages("Active", total("active"));  // only in Linux 2.6.27 and earlier
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
  add("Hugetlb", huge_page_kb(report));
  add("GPUActive", of_nodes(report, "gpu_active"));
  add("GPUReclaim", of_nodes(report, "gpu_reclaim"));
  return text;
}

std::string vmstat_of(const OomReport& report) {
  std::string text;
  const auto add = [&text](std::string_view name, Number value) {
    if (value) text += fmt::format("{} {}\n", name, *value);
  };
  add("nr_free_pages", free_pages(report));
  add("nr_free_pcp", all_cpu_list_pages(report));  // read by balance_of_log.cpp; /proc/vmstat has no such line
  add("nr_file_pages", find_line(report, "total pagecache pages"));
  add("nr_kernel_misc_reclaimable", number_of(report.totals, "kernel_misc_reclaimable"));
  add("nr_isolated_anon", counted_pages(report, "isolated_anon"));
  add("nr_isolated_file", counted_pages(report, "isolated_file"));
  if (const Number kb_of_zones = of_zones(report, "zspages")) add("nr_zspages", *kb_of_zones / kb_of_page(report));
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
    if (const auto pages = cpu_list_pages(report, zone))
      text += fmt::format("  pagesets\n    cpu: 0\n      count: {}\n", *pages);
  }
  return text;
}

std::string buddyinfo_of(const OomReport& report) {
  std::string text;
  for (const auto& [name, zone] : report.zones) {
    if (!zone.has_all_free) continue;
    text += fmt::format("Node {}, zone {}", name.first, name.second);
    for (const std::uint64_t count : zone.free) text += fmt::format(" {}", count);
    text += '\n';
  }
  return text;
}

// Returns lines of the text "missing" about the parts that the report lacks.
std::string damage_of(const OomReport& report) {
  std::string text;
  const auto add = [&text](const std::string& why) { text += fmt::format("log\t{}\t\n", why); };
  if (report.wall_ns && report.has_year && !report.has_zone)
    add(fmt::format("the report is from {:%Y-%m-%d %H:%M:%S} in the machine's time zone, which the log does not name",
                    fmt::gmtime(static_cast<std::time_t>(*report.wall_ns / 1'000'000'000))));
  if (report.starts_late) add("the log lacks the first lines of the report, so their numbers are unknown");
  if (report.lost_messages != 0)
    add(
        fmt::format("the log lost messages inside the report: {}. They may be lines of the report: numbers in them are "
                    "unknown, and its lists may lack rows",
                    report.lost_messages));
  if (report.is_cut) add("the report is larger than on any kernel: the rest is dropped");
  if (report.damaged_tasks != 0)
    add(fmt::format("rows of the task table that are cut off or mixed with other text: {}", report.damaged_tasks));
  for (const std::string& name : report.damaged_totals)
    add(fmt::format("the total of {} is much smaller than its parts, so digits are missing, and it is not used", name));
  if (!report.has_page_size) add("the report does not show the page size, so 4 KiB is assumed");
  if (report.is_of_cgroup()) return text;
  if (!ram_pages(report))
    add(fmt::format(
        "the report is cut: it lacks the lines \"pages RAM\" and \"pages reserved\". The total of memory is {}",
        total_pages(report) ? "the sum of its zones" : "unknown"));
  if (!report.zones.empty() && !has_all_zones(report))
    add("the report has only some zones of the machine, so sums over zones are unknown");
  if (std::ranges::any_of(report.zones,
                          [](const auto& zone) { return !zone.second.free.empty() && !zone.second.has_all_free; }))
    add("a list of free blocks is cut off or mixed with other text, so it is not shown");
  if (report.has_wrong_sum)
    add("a list of free blocks does not add up to the sum at the end of its line, so it is not shown");
  return text;
}

}  // namespace

std::optional<std::uint64_t> total_bytes_of(const OomReport& report) {
  const auto pages = total_pages(report);
  return pages ? std::optional(*pages * report.page_size) : std::nullopt;
}

StateSample sample_of(const OomReport& report) {
  StateSample sample;
  if (report.has_year && report.has_zone) sample.unix_ns = report.wall_ns.value_or(0);
  const auto add = [&sample](const char* name, std::string text) {
    if (!text.empty()) sample.texts.emplace_back(name, std::move(text));
  };
  add("meminfo", meminfo_of(report));
  add("vmstat", vmstat_of(report));
  add("zoneinfo", zoneinfo_of(report));
  add("buddyinfo", buddyinfo_of(report));
  std::string missing;
  if (!report.is_of_cgroup()) missing = "slabinfo\tthe kernel's log has no slabinfo\tcopy /proc/slabinfo\n";
  if (!report.allocations.empty()) {
    std::string allocations;
    for (const std::string& line : report.allocations) allocations.append(line).append("\n");
    add("allocinfo", std::move(allocations));
    missing += "allocinfo\tthe kernel's log has only the largest call sites\tcopy /proc/allocinfo\n";
  }
  missing += damage_of(report);
  add("oom", report.text);
  if (!report.release.empty()) add("uname", fmt::format("Linux version {}\n", report.release));
  add("missing", std::move(missing));
  return sample;
}

void parse_oom(std::string_view text, KernelMemory& memory) {
  if (text.empty()) return;
  memory.oom.emplace();
  std::vector<OomReport> reports = oom_reports(text);
  if (reports.empty()) return;
  memory.oom = std::move(reports.front().kill);
  memory.oom->has_total_of_zones = !ram_pages(reports.front());
  memory.unreclaimable_slabs = std::move(reports.front().slabs);
  memory.page_size = reports.front().page_size;
  if (memory.release.empty()) memory.release = std::move(reports.front().release);
}

}  // namespace kmt
