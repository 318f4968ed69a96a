// SPDX-License-Identifier: GPL-2.0-or-later
// Parsers for the kernel's files. Each parser adds the values of its text to `memory`.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "trace/state/kernel_memory.hpp"

namespace kmt {

// Counts a line that no parser understood. Keeps the first few lines of each source.
void keep_unknown(std::string_view source, std::string_view line, KernelMemory& memory);

// Parse lines "NAME[:] NUMBER [kB]", as in meminfo, vmstat and memory.stat.
void parse_meminfo(std::string_view text, KernelMemory& memory);
void parse_vmstat(std::string_view text, KernelMemory& memory);
void parse_sockstat(std::string_view text, KernelMemory& memory);
// Parses lines "some avg10=0.00 avg60=0.00 avg300=0.00 total=NUMBER", as in /proc/pressure/memory.
void parse_pressure(std::string_view text, KernelMemory& memory);
void parse_recorder(std::string_view text, KernelMemory& memory);
void parse_percpu_stats(std::string_view text, KernelMemory& memory);
// Parses the line "percpu: Embedded 53 pages/cpu …" of the boot messages, if it is there. `memory.page_size` must be
// set before.
void parse_boot_messages(std::string_view text, KernelMemory& memory);

// Parses lines "CACHE/FILE:VALUE" and "ALIAS -> CACHE", as printed by `grep -r` and `find -type l` in /sys/kernel/slab.
void parse_slab_attributes(std::string_view text, KernelMemory& memory);
void parse_vmallocinfo(std::string_view text, KernelMemory& memory);
void parse_zoneinfo(std::string_view text, KernelMemory& memory);
void parse_buddyinfo(std::string_view text, KernelMemory& memory);
void parse_pagetypeinfo(std::string_view text, KernelMemory& memory);
// Parses lines "PATH/memory.stat:LINE".
void parse_cgroups(std::string_view text, KernelMemory& memory);

void parse_allocinfo(std::string_view text, KernelMemory& memory);
// True if one of the first lines is a line of /proc/allocinfo.
bool is_allocinfo(std::string_view text);
// Returns where each copy starts, if the text has several copies of allocinfo. Copies may lack the header, and may be
// sorted or cut by other programs. Returns at least one position.
std::vector<std::size_t> starts_of_allocinfo(std::string_view text);
// Parses lines "CACHE/FILE:LINE", where FILE is alloc_traces, alloc_calls, free_traces or free_calls.
void parse_slab_traces(std::string_view text, std::string_view source, std::vector<AllocationSite>& sites,
                       KernelMemory& memory);
void parse_page_owner(std::string_view text, KernelMemory& memory);
void parse_page_owner_stacks(std::string_view text, KernelMemory& memory);
void parse_kmemleak(std::string_view text, KernelMemory& memory);
// Parses a memory report of the kernel's log: the killed process, the task table and the slab caches. sample_of() in
// oom_report.hpp has converted the other numbers to meminfo, vmstat, zoneinfo and buddyinfo.
void parse_oom(std::string_view text, KernelMemory& memory);
// Parses lines "KIND NAME=VALUE ...", separated by tabs. `memory.page_size` must be set before.
void parse_owners(std::string_view text, KernelMemory& memory);
void parse_missing(std::string_view text, KernelMemory& memory);
void parse_older(std::string_view text, KernelMemory& memory);

}  // namespace kmt
