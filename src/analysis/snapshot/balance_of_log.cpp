// SPDX-License-Identifier: GPL-2.0-or-later
// The balance sheet for a report in the kernel's log. For user memory, the log has the lengths of page lists (LRU
// lists), whereas meminfo has kinds of memory.
#include <algorithm>
#include <optional>

#include "analysis/snapshot/balance_sheet.hpp"
#include "analysis/snapshot/sheet.hpp"

namespace kmt {

namespace {

constexpr const char* kNotInLog = "not in the kernel's log";

void add_free_of_log(Sheet& sheet, const KernelMemory& memory) {
  ByteCount on_cpus = 0;
  for (const MemoryZone& zone : memory.zones) on_cpus += zone.cpu_list_pages * memory.page_size;
  sheet.group("free", "free", "");
  sheet.part("buddy", "in the page allocator", sheet.meminfo("MemFree"), "oom: free");
  sheet.part("cpu-lists", "on the CPUs' own lists", on_cpus, "oom: free_pcp");
  sheet.remark("cma", "(in CMA areas)", sheet.meminfo("CmaFree"), "oom: free_cma");
}

// The page lists contain anonymous memory, the swap cache, shared memory, and the page cache of files and block
// devices. The log counts the last three together as "pagecache". All other pages on the lists are anonymous.
void add_lists_of_log(Sheet& sheet, const KernelMemory& memory) {
  const ByteCount on_anon_lists =
      sheet.meminfo("Active(anon)") + sheet.meminfo("Inactive(anon)") + sheet.vmstat_bytes("nr_isolated_anon");
  const ByteCount on_file_lists =
      sheet.meminfo("Active(file)") + sheet.meminfo("Inactive(file)") + sheet.vmstat_bytes("nr_isolated_file");
  const ByteCount on_lists = on_anon_lists + on_file_lists + sheet.meminfo("Unevictable");
  const ByteCount shmem = sheet.meminfo("Shmem");
  ByteCount cache = on_file_lists;
  const bool knows_cache = find_number(memory.vmstat, "nr_file_pages").has_value();
  if (knows_cache) {
    const ByteCount all = sheet.vmstat_bytes("nr_file_pages");
    const ByteCount others = shmem + sheet.meminfo("SwapCached");
    cache = all > others ? all - others : 0;
  }
  const ByteCount others = cache + shmem;
  sheet.group("user", "user", "");
  sheet.part("anonymous", "anonymous, and swap cache", on_lists > others ? on_lists - others : 0,
             "oom: active + inactive + isolated + unevictable - the two below");
  sheet.part("page-cache", "files' and devices' page cache", cache,
             knows_cache ? "oom: pagecache pages - swap cache - shmem" : "oom: active_file + inactive_file");
  sheet.part("shmem", "shared memory and tmpfs", shmem, "oom: shmem");
  sheet.remark("huge", "(in huge pages)", sheet.meminfo("AnonHugePages") + sheet.meminfo("ShmemHugePages"),
               "oom: anon_thp + shmem_thp");
}

void add_slab_of_log(Sheet& sheet, const KernelMemory& memory) {
  const std::string said = "oom: slab_reclaimable + slab_unreclaimable";
  if (memory.unreclaimable_slabs.empty()) {
    sheet.known_line("slab", "slab", find_number(memory.meminfo, "Slab"), said);
  } else {
    ByteCount used = 0;
    ByteCount held = 0;
    for (const SlabTotal& cache : memory.unreclaimable_slabs) {
      used += cache.used_bytes;
      held += cache.bytes;
    }
    sheet.group("slab", "slab", said);
    sheet.part("in-use", "unreclaimable, in use", used, "oom: unreclaimable slab info, Used");
    sheet.part("empty", "unreclaimable, held but empty", held - used, "oom: unreclaimable slab info, Total - Used");
    sheet.last_part("unlisted", "in other caches", sheet.meminfo("Slab"), said + " - unreclaimable slab info, Total");
  }
  sheet.remark("reclaimable", "(reclaimable)", sheet.meminfo("SReclaimable"), "oom: slab_reclaimable");
}

}  // namespace

std::vector<BalanceLine> balance_of_log(const KernelMemory& memory, std::uint64_t total) {
  Sheet sheet(memory);
  const auto counted = [&](const char* name) { return find_number(memory.meminfo, name); };
  add_free_of_log(sheet, memory);
  add_lists_of_log(sheet, memory);
  sheet.known_line("hugetlb", "hugetlb", counted("Hugetlb"), "oom: hugepages_total * hugepages_size");
  add_slab_of_log(sheet, memory);
  sheet.unknown_line("vmalloc", "vmalloc", kNotInLog);
  sheet.known_line("kernel-stacks", "kernel stacks", counted("KernelStack"), "oom: kernel_stack");
  sheet.group("page-tables", "page tables", "");
  sheet.part("processes", "of processes", sheet.meminfo("PageTables"), "oom: pagetables");
  sheet.part("secondary", "of KVM and IOMMUs", sheet.meminfo("SecPageTables"), "oom: sec_pagetables");
  sheet.unknown_line("percpu", "percpu", kNotInLog);
  const ByteCount reclaimable = sheet.meminfo("KReclaimable");
  const ByteCount slab = sheet.meminfo("SReclaimable");
  sheet.group("others", "other counted kernel memory", "");
  sheet.part("reclaimable", "of drivers, reclaimable", reclaimable > slab ? reclaimable - slab : 0,
             "oom: kernel_misc_reclaimable");
  sheet.part("bounce", "bounce buffers", sheet.meminfo("Bounce"), "oom: bounce");
  sheet.part("corrupted", "broken hardware", sheet.meminfo("HardwareCorrupted"), "oom: pages hwpoisoned");
  sheet.last_line("unaccounted", "unaccounted memory", total, "pages RAM - pages reserved - all lines above");
  sheet.remark("cma", "(used pages of CMA areas)", sheet.meminfo("CmaTotal") - sheet.meminfo("CmaFree"),
               "oom: pages cma reserved - free_cma, user pages too");
  return sheet.take();
}

}  // namespace kmt
