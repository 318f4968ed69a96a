// SPDX-License-Identifier: GPL-2.0-or-later
// Reads what the kernel prints about its memory when it kills a process (mm/oom_kill.c, mm/show_mem.c), when an
// allocation fails, or after SysRq+M. Formats of Linux 2.6.32 to 7.0.
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

// Numbers after names such as "active_anon:", in the unit of the text: pages or kB.
using LogNumbers = std::map<std::string, std::uint64_t, std::less<>>;

struct LogZone {
  LogNumbers numbers;                // kB
  std::vector<std::uint64_t> free;   // free blocks by order
  std::uint64_t cpu_list_pages = 0;  // before Linux 4.1, the sum of "usd:" of all CPUs
};

struct OomReport {
  std::string text;      // the messages of the report without their prefixes
  bool is_cut = false;   // true: the limits of size were reached
  std::size_t boot = 0;  // number of boots before, in the log
  std::optional<std::uint64_t> boot_ns;
  std::optional<std::uint64_t> wall_ns;
  bool has_year = true;
  std::string release;

  std::uint32_t page_size = 4096;
  LogNumbers totals;                                          // pages
  std::map<unsigned, LogNumbers> nodes;                       // kB
  std::map<std::pair<unsigned, std::string>, LogZone> zones;  // by node and name
  LogNumbers lines;  // numbers of the lines "N pages RAM" and similar, by the words of the line
  std::optional<std::uint64_t> hugetlb_kb;
  std::vector<std::string> allocations;  // lines after "Memory allocations:", as in allocinfo
  OomKill kill;
  std::vector<SlabTotal> slabs;

  bool has_memory() const { return totals.contains("active_anon") || totals.contains("free") || !zones.empty(); }
};

// Returns the reports in a log, in the order of the log. Limits their number and size. If there are too many, returns
// the last ones and sets `dropped` to the number of the others.
std::vector<OomReport> oom_reports(std::string_view log, std::size_t* dropped = nullptr);

// Returns MemTotal in bytes, if the report has it.
std::optional<std::uint64_t> total_bytes_of(const OomReport& report);

// Converts a report to texts with the formats of /proc: meminfo, vmstat, zoneinfo and buddyinfo, with the lines that
// the report has. The text "oom" is the report itself.
StateSample sample_of(const OomReport& report);

}  // namespace kmt
