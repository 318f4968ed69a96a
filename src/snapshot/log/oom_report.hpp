// SPDX-License-Identifier: GPL-2.0-or-later
// Reads what the kernel prints about its memory when it kills a process (mm/oom_kill.c, mm/show_mem.c), when an
// allocation fails, or after SysRq+M. Formats of Linux 2.6.18 to 7.0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/state/kernel_memory.hpp"
#include "trace/state/sample.hpp"

namespace kmt {

// Numbers by name, such as "active_anon". A comment at each member of this type states the unit.
using LogNumbers = std::map<std::string, std::uint64_t, std::less<>>;

struct LogZone {
  LogNumbers numbers;               // kB
  std::vector<std::uint64_t> free;  // number of free blocks by order
  bool has_all_free = false;        // true: `free` has all orders up to the end of its line
  // pages in the per-CPU lists; only before Linux 4.1, because later kernels print them as one of `numbers`
  std::optional<std::uint64_t> cpu_list_pages;
};

struct OomReport {
  std::string text;                 // the messages of the report without their prefixes
  bool is_cut = false;              // true: a size limit was reached
  bool starts_late = false;         // true: the log lacks the first lines of the report
  bool is_mixed = false;            // true: `text` also has lines of another report, which cannot be separated
  bool has_wrong_sum = false;       // true: a list of free blocks does not add up to the sum at the end of its line
  std::uint64_t lost_messages = 0;  // messages that the kernel or a log daemon lost between lines of the report
  std::size_t damaged_tasks = 0;    // number of rows of the task table that are cut off or mixed with other text
  std::size_t position = 0;         // number of reports in the log that began before this one
  std::size_t boot = 0;             // number of boots in the log before this report
  std::optional<std::uint64_t> boot_ns;
  std::optional<std::uint64_t> wall_ns;
  bool has_year = true;
  bool has_zone = true;  // the same value as LogMessage::has_zone
  std::string release;
  std::string host;
  bool is_failed_allocation = false;  // true: the first line is "PROCESS: page allocation failure: …"
  std::optional<std::uint64_t> pid;   // process or thread that printed the report

  std::uint32_t page_size = 4096;
  bool has_page_size = false;                                 // false: the report does not show the page size
  LogNumbers totals;                                          // pages
  std::map<unsigned, LogNumbers> nodes;                       // kB
  std::map<std::pair<unsigned, std::string>, LogZone> zones;  // key: number of the node and name of the zone
  LogNumbers lines;  // numbers of lines such as "524178 pages RAM"; in this example, the key is "pages RAM"
  std::vector<std::string> damaged_totals;  // names of the totals that drop_damaged_totals() removed
  std::optional<std::uint64_t> hugetlb_kb;
  std::vector<std::string> allocations;  // lines after "Memory allocations:", in the format of /proc/allocinfo
  OomKill kill;
  std::vector<SlabTotal> slabs;

  bool has_memory() const { return !totals.empty() || !nodes.empty() || !zones.empty(); }
  // True if the report shows the memory of a cgroup that reached its limit.
  bool is_of_cgroup() const { return !has_memory() && kill.cgroup && kill.cgroup->usage_bytes; }
};

// Returns the memory reports in a log, in the order of the log. If the log has too many reports, returns the last ones,
// and sets `dropped` to the number of reports that were dropped.
std::vector<OomReport> oom_reports(std::string_view log, std::size_t* dropped = nullptr);

// Sets has_page_size. If a report has no lists of free blocks, derives the page size from amounts that it shows both in
// pages and in kB.
void derive_page_size(OomReport& report);
// Linux 4.8 to 4.10 print the numbers of four counters of a node after the wrong names (show_free_areas() in
// mm/page_alloc.c). Corrects them if the totals of the machine show that they are wrong. Call derive_page_size() first.
void correct_shifted_counters(OomReport& report);
// Removes totals that are much smaller than the sum of their nodes or zones. They lack digits, because their line was
// torn or mixed with another. Call derive_page_size() first.
void drop_damaged_totals(OomReport& report);

// Returns MemTotal in bytes, or else the sum over all zones. Empty if the report shows neither.
std::optional<std::uint64_t> total_bytes_of(const OomReport& report);

// Converts a report to the texts meminfo, vmstat, zoneinfo and buddyinfo of a snapshot, in the formats of /proc. Each
// text has only the lines whose numbers are in the report. The text "oom" is the report itself.
StateSample sample_of(const OomReport& report);

}  // namespace kmt
