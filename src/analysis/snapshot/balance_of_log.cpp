// SPDX-License-Identifier: GPL-2.0-or-later
// The balance sheet for a report in the kernel's log. For user memory, the log has the lengths of page lists (LRU
// lists), whereas meminfo has kinds of memory.
#include <initializer_list>
#include <optional>

#include "analysis/snapshot/balance_sheet.hpp"
#include "analysis/snapshot/sheet.hpp"

namespace kmt {

namespace {

constexpr const char* kNotInLog = "not in the kernel's log";

using Amount = std::optional<ByteCount>;  // empty if the log does not contain it

void add_free_of_log(Sheet& sheet, const KernelMemory& memory) {
  Amount on_cpus = find_number(memory.vmstat, "nr_free_pcp");
  if (on_cpus) *on_cpus *= memory.page_size;
  sheet.group("free", "free", "");
  sheet.part("buddy", "in the page allocator", find_number(memory.meminfo, "MemFree"), "oom: free");
  sheet.part("cpu-lists", "on the CPUs' own lists", on_cpus, "oom: free_pcp");
  sheet.remark("cma", "(in CMA areas)", free_cma(sheet, memory), "oom: free_cma");
}

Amount sum_of(std::initializer_list<Amount> amounts) {
  ByteCount sum = 0;
  for (const Amount& amount : amounts) {
    if (!amount) return std::nullopt;
    sum += *amount;
  }
  return sum;
}

Amount difference(Amount whole, Amount part) {
  if (!whole || !part) return std::nullopt;
  return *whole > *part ? *whole - *part : 0;
}

// The lengths of the page lists (LRU lists).
struct PageLists {
  Amount anon;
  Amount file;
  Amount unevictable;
  Amount all;
};

PageLists page_lists_of(const KernelMemory& memory) {
  const auto counted = [&](const char* name) { return find_number(memory.meminfo, name); };
  const auto isolated = [&](const char* name) { return number_or_0(memory.vmstat, name) * memory.page_size; };
  const Amount anon = sum_of({counted("Active(anon)"), counted("Inactive(anon)"), isolated("nr_isolated_anon")});
  const Amount file = sum_of({counted("Active(file)"), counted("Inactive(file)"), isolated("nr_isolated_file")});
  Amount all = sum_of({anon, file, counted("Unevictable")});
  if (!all) all = sum_of({counted("Active"), counted("Inactive")});  // Linux 2.6.27 and earlier
  return {anon, file, counted("Unevictable"), all};
}

// Adds the lines of user memory. The page lists contain anonymous memory, the swap cache, shared memory, and the page
// cache of files and block devices. The log counts the last three together as "pagecache". All other pages on the lists
// are anonymous. Before Linux 2.6.32, shared memory has no counter: it is on the lists of anonymous memory.
void add_lists_of_log(Sheet& sheet, const KernelMemory& memory) {
  const auto counted = [&](const char* name) { return find_number(memory.meminfo, name); };
  const PageLists lists = page_lists_of(memory);
  const Amount shmem = counted("Shmem");
  Amount all_cache;
  if (const auto pages = find_number(memory.vmstat, "nr_file_pages")) all_cache = *pages * memory.page_size;
  const Amount exact = difference(all_cache, sum_of({shmem, counted("SwapCached")}));
  const bool has_file_lists = !exact && lists.file;
  sheet.group("user", "user", "");
  const Amount cache = exact ? exact : has_file_lists ? lists.file : difference(all_cache, counted("SwapCached"));
  // Unevictable pages may be anonymous or page cache. The number of all pages of the page cache shows how many of them
  // are page cache.
  const Amount anonymous = has_file_lists ? difference(lists.anon, shmem.value_or(0))
                                          : difference(lists.all, sum_of({cache, shmem.value_or(0)}));
  if (!cache && !shmem && lists.all)  // Linux 2.6.26 and earlier
    return sheet.part("lists", "anonymous, page cache, swap cache", *lists.all, "oom: active + inactive");
  if (has_file_lists && lists.unevictable && shmem && lists.anon && *shmem > *lists.anon) {
    // Some shared memory is on the list of unevictable pages, and it is unknown how much. So only the sum of anonymous,
    // shared and unevictable memory is known.
    sheet.part("lists", "anonymous, shared memory, unevictable", sum_of({lists.anon, lists.unevictable}),
               "oom: active_anon + inactive_anon + isolated_anon + unevictable");
    sheet.part("page-cache", "files' and devices' page cache", cache, "oom: active_file + inactive_file");
    return sheet.remark("shmem", "(shared memory and tmpfs)", *shmem, "oom: shmem");
  }
  sheet.part("anonymous", shmem ? "anonymous, and swap cache" : "anonymous, swap cache, shared memory", anonymous,
             has_file_lists ? "oom: active_anon + inactive_anon + isolated_anon - shmem"
                            : "oom: active + inactive + isolated + unevictable - the two below");
  if (has_file_lists && lists.unevictable != ByteCount{0})
    sheet.part("unevictable", "unevictable, of any kind", lists.unevictable, "oom: unevictable");
  sheet.part("page-cache", "files' and devices' page cache", cache,
             exact            ? "oom: pagecache pages - swap cache - shmem"
             : has_file_lists ? "oom: active_file + inactive_file"
                              : "oom: pagecache pages - swap cache, with shared memory");
  if (shmem)
    sheet.part("shmem", "shared memory and tmpfs", *shmem, "oom: shmem");
  else
    sheet.remark("shmem", "(shared memory and tmpfs)", {}, "oom: shmem");
  sheet.remark("huge", "(in huge pages)", sheet.meminfo("AnonHugePages") + sheet.meminfo("ShmemHugePages"),
               "oom: anon_thp + shmem_thp");
}

void add_slab_of_log(Sheet& sheet, const KernelMemory& memory) {
  const bool has_kinds = find_number(memory.meminfo, "SUnreclaim").has_value();
  const std::string said = has_kinds ? "oom: slab_reclaimable + slab_unreclaimable" : "oom: slab";
  const Amount slab = find_number(memory.meminfo, "Slab");
  if (memory.unreclaimable_slabs.empty()) {
    sheet.known_line("slab", "slab", slab, said);
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
    if (slab)
      sheet.last_part("unlisted", "in other caches", *slab, said + " - unreclaimable slab info, Total");
    else
      sheet.part("unlisted", "in other caches", {}, said + " - unreclaimable slab info, Total");
  }
  sheet.remark("reclaimable", "(reclaimable)", sheet.meminfo("SReclaimable"), "oom: slab_reclaimable");
}

// Adds the lines for other counters. If a kernel does not have a counter yet, its line is 0; if the log has lost the
// counter's line, it is unknown. The line "sec_pagetables: bounce:" is in Linux 6.1 and later, as is
// kernel_misc_reclaimable.
void add_other_counters_of_log(Sheet& sheet, const KernelMemory& memory) {
  const auto counted = [&](const char* name) { return find_number(memory.meminfo, name); };
  const Amount secondary = counted("SecPageTables");
  const Amount bounce = counted("Bounce");
  sheet.group("page-tables", "page tables", "");
  sheet.part("processes", "of processes", counted("PageTables"), "oom: pagetables");
  sheet.part("secondary", "of KVM and IOMMUs", secondary || !bounce ? secondary : Amount(0), "oom: sec_pagetables");
  sheet.unknown_line("percpu", "percpu", kNotInLog);
  Amount reclaimable = find_number(memory.vmstat, "nr_kernel_misc_reclaimable");
  if (reclaimable) *reclaimable *= memory.page_size;
  // older kernels print no such counter between PageTables and MemFree
  if (!reclaimable && !secondary && counted("PageTables") && counted("MemFree")) reclaimable = 0;
  sheet.group("others", "other counted kernel memory", "");
  sheet.part("reclaimable", "of drivers, reclaimable", reclaimable, "oom: kernel_misc_reclaimable");
  if (const Amount gpu = sum_of({counted("GPUActive"), counted("GPUReclaim")}))
    sheet.part("gpu", "of GPU drivers", *gpu, "oom: gpu_active + gpu_reclaim");
  if (const auto pages = find_number(memory.vmstat, "nr_zspages"))  // Linux 7.0 and later
    sheet.part("zsmalloc", "compressed swap", *pages * memory.page_size, "oom: zspages");
  sheet.part("bounce", "bounce buffers", bounce || !secondary ? bounce : Amount(0), "oom: bounce");
  // if the line "pages RAM" is lost, the lines after it are lost too
  const Amount corrupted = counted("HardwareCorrupted");
  sheet.part("corrupted", "broken hardware", corrupted || memory.oom->has_total_of_zones ? corrupted : Amount(0),
             "oom: pages hwpoisoned");
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
  add_other_counters_of_log(sheet, memory);
  if (total == 0)
    sheet.unknown_line("unaccounted", "unaccounted memory", "the report lacks the total of memory");
  else if (!counted("MemFree") || sheet.lacks("user") || sheet.lacks("slab"))
    sheet.unknown_line("unaccounted", "unaccounted memory", "the report lacks large parts of memory");
  else
    sheet.last_line("unaccounted", "unaccounted memory", total,
                    memory.oom->has_total_of_zones ? "oom: managed - all lines above"
                                                   : "pages RAM - pages reserved - all lines above");
  sheet.remark("cma", "(used pages of CMA areas)", used_cma(sheet, memory),
               "oom: pages cma reserved - free_cma, with user pages");
  return sheet.take();
}

}  // namespace kmt
