// SPDX-License-Identifier: GPL-2.0-or-later
// A parser for each of the kernel's files; each adds the content of its text to `memory`.
#pragma once

#include <string_view>

#include "trace/state/kernel_memory.hpp"

namespace kmt {

// Remembers a line that no parser understood: all are counted, the first of them kept.
void keep_unknown(std::string_view source, std::string_view line, KernelMemory& memory);

// Lines "NAME[:] NUMBER [kB]", as meminfo, vmstat and memory.stat have them.
void parse_meminfo(std::string_view text, KernelMemory& memory);
void parse_vmstat(std::string_view text, KernelMemory& memory);
void parse_sockstat(std::string_view text, KernelMemory& memory);
void parse_recorder(std::string_view text, KernelMemory& memory);
void parse_percpu_stats(std::string_view text, KernelMemory& memory);
// "percpu: Embedded 53 pages/cpu …", where the boot messages still have it; with a known page size.
void parse_boot_messages(std::string_view text, KernelMemory& memory);

// "CACHE/FILE:VALUE" and "ALIAS -> CACHE", as `grep -r` and `find -type l` print them in /sys/kernel/slab.
void parse_slab_attributes(std::string_view text, KernelMemory& memory);
void parse_vmallocinfo(std::string_view text, KernelMemory& memory);
void parse_zoneinfo(std::string_view text, KernelMemory& memory);
void parse_buddyinfo(std::string_view text, KernelMemory& memory);
void parse_pagetypeinfo(std::string_view text, KernelMemory& memory);
// "PATH/memory.stat:LINE".
void parse_cgroups(std::string_view text, KernelMemory& memory);

void parse_allocinfo(std::string_view text, KernelMemory& memory);
// "CACHE/FILE:LINE" of alloc_traces or alloc_calls, free_traces or free_calls.
void parse_slab_traces(std::string_view text, std::string_view source, std::vector<AllocationSite>& sites,
                       KernelMemory& memory);
void parse_page_owner(std::string_view text, KernelMemory& memory);
void parse_page_owner_stacks(std::string_view text, KernelMemory& memory);
void parse_kmemleak(std::string_view text, KernelMemory& memory);
void parse_missing(std::string_view text, KernelMemory& memory);

}  // namespace kmt
