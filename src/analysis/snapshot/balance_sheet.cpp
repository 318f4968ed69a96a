// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/snapshot/balance_sheet.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "analysis/snapshot/amounts.hpp"
#include "analysis/snapshot/sheet.hpp"
#include "base/number.hpp"

namespace kmt {

namespace {

bool has_cpu_lists(const KernelMemory& memory) {
  return std::ranges::any_of(memory.zones, [](const MemoryZone& zone) { return zone.cpu_list_pages.has_value(); });
}

void add_free(Sheet& sheet, const KernelMemory& memory) {
  ByteCount on_cpus = 0;
  for (const MemoryZone& zone : memory.zones) on_cpus += zone.cpu_list_pages.value_or(0) * memory.page_size;
  sheet.group("free", "free", "");
  sheet.part("buddy", "in the page allocator", sheet.meminfo("MemFree"), "meminfo: MemFree");
  if (has_cpu_lists(memory)) sheet.part("cpu-lists", "on the CPUs' own lists", on_cpus, "zoneinfo: pagesets, count");
  sheet.remark("unaccepted", "(not yet accepted)", sheet.meminfo("Unaccepted"), "meminfo: Unaccepted");
  sheet.remark("cma", "(in CMA areas)", free_cma(sheet, memory), "meminfo: CmaFree");
}

void add_user(Sheet& sheet) {
  const ByteCount anonymous = sheet.meminfo("AnonPages");
  const ByteCount shmem = sheet.meminfo("Shmem");
  const ByteCount on_lists = sheet.meminfo("Active(anon)") + sheet.meminfo("Inactive(anon)");
  const ByteCount known = shmem + anonymous;
  const ByteCount swap_cache = std::min(sheet.meminfo("SwapCached"), on_lists > known ? on_lists - known : 0);
  sheet.group("user", "user", "");
  sheet.part("anonymous", "anonymous", anonymous, "meminfo: AnonPages");
  sheet.part("swap-cache", "swap cache, not mapped", swap_cache,
             "meminfo: Active(anon) + Inactive(anon) - Shmem - AnonPages, at most SwapCached");
  sheet.part("file", "files' page cache", sheet.meminfo("Cached") - shmem, "meminfo: Cached - Shmem");
  sheet.part("buffers", "block devices' page cache", sheet.meminfo("Buffers"), "meminfo: Buffers");
  sheet.part("shmem", "shared memory and tmpfs", shmem, "meminfo: Shmem");
  sheet.remark("huge", "(in huge pages)",
               sheet.meminfo("AnonHugePages") + sheet.meminfo("ShmemHugePages") + sheet.meminfo("FileHugePages"),
               "meminfo: AnonHugePages + ShmemHugePages + FileHugePages");
}

// Adds the line of huge pages. A copy of meminfo may lack their number or their size.
void add_hugetlb(Sheet& sheet, const KernelMemory& memory) {
  const auto all = find_number(memory.meminfo, "Hugetlb");
  const ByteCount pages = sheet.meminfo("HugePages_Total");
  const ByteCount size = sheet.meminfo("Hugepagesize");
  if (all)
    sheet.line("hugetlb", "hugetlb", *all, "meminfo: Hugetlb");
  else if (lacks(memory, "hugetlb") || (pages != 0 && size == 0))
    sheet.unknown_line("hugetlb", "hugetlb", "meminfo lacks HugePages_Total or Hugepagesize");
  else
    sheet.line("hugetlb", "hugetlb", pages * size,
               counts_all_huge_pages(memory) ? "meminfo: Hugetlb"
                                             : "meminfo: HugePages_Total * Hugepagesize, without other sizes");
}

// True for the allocator SLAB (until Linux 6.7), which has caches for all sizes of kmalloc. False for SLUB, which
// passes sizes above two pages to the page allocator.
bool is_slab_allocator(const std::vector<SlabCacheUse>& caches, std::uint64_t page_size) {
  return std::ranges::any_of(caches, [page_size](const SlabCacheUse& cache) {
    const std::string_view name = cache.name;
    return name.starts_with("size-") || (name.starts_with("kmalloc-") && cache.object_bytes > 2 * page_size);
  });
}

void add_parts_of_slab(Sheet& sheet, const KernelMemory& memory, const std::vector<SlabCacheUse>& caches) {
  SlabCacheUse all;
  for (const SlabCacheUse& cache : caches) {
    all.in_use += cache.in_use;
    all.free += cache.free;
    all.padding += cache.padding;
    all.tails += cache.tails;
  }
  const bool knows_sizes =
      std::ranges::any_of(caches, [](const SlabCacheUse& cache) { return cache.attributes != nullptr; });
  sheet.part("in-use", "objects in use", all.in_use,
             knows_sizes ? "slabinfo: active_objs * slab: object_size" : "slabinfo: active_objs");
  sheet.part("empty", "held but empty", all.free, "slabinfo: num_objs - active_objs");
  if (knows_sizes) sheet.part("padding", "waste inside objects", all.padding, "slab: slab_size - object_size");
  sheet.part("tails", "waste at the ends of slabs", all.tails, "slabinfo: num_slabs - num_objs");
  const char* const said = "meminfo: Slab - slabinfo: num_slabs";
  if (lacks_caches(memory))
    sheet.last_part("unlisted", "not in the partial slabinfo", sheet.meminfo("Slab"), said);
  else if (is_slab_allocator(caches, memory.page_size))
    sheet.last_part("unlisted", "not in slabinfo", sheet.meminfo("Slab"), said);
  else
    sheet.last_part("large", "kmalloc above two pages", sheet.meminfo("Slab"), said);
}

void add_slab(Sheet& sheet, const KernelMemory& memory, const std::vector<SlabCacheUse>& caches) {
  if (caches.empty()) {
    sheet.line("slab", "slab", sheet.meminfo("Slab"), "meminfo: Slab");
  } else {
    sheet.group("slab", "slab", "meminfo: Slab");
    add_parts_of_slab(sheet, memory, caches);
  }
  sheet.remark("reclaimable", "(reclaimable)", sheet.meminfo("SReclaimable"), "meminfo: SReclaimable");
}

// The memory that the line VmallocUsed in meminfo counts. It depends on the kernel.
enum class VmallocMeaning : std::uint8_t {
  memory,         // pages that vmalloc has allocated (since Linux 5.3)
  address_space,  // sizes of all areas, including those that map devices (before Linux 4.4)
  unknown,        // the copy of meminfo ends with this line
  nothing,        // always 0 (Linux 4.4 to 5.2)
};

bool is_before_4_4(std::string_view release) {
  const auto major = take_number<unsigned>(release);
  if (!major || !release.starts_with('.')) return false;
  const auto minor = parse_leading<unsigned>(release.substr(1));
  return *major < 4 || (*major == 4 && minor < 4);
}

// Derives the meaning of VmallocUsed from numbers in meminfo. The kernel's version is often unknown, and distributions
// change the meaning in older versions. VmallocChunk has been 0 since Linux 4.4.
VmallocMeaning vmalloc_meaning(const Sheet& sheet, const KernelMemory& memory, ByteCount total) {
  const ByteCount used = sheet.meminfo("VmallocUsed");
  if (memory.vmalloc.empty() && memory.meminfo.back().name == "VmallocUsed") return VmallocMeaning::unknown;
  if (sheet.meminfo("VmallocChunk") != 0 || used > total || is_before_4_4(memory.release))
    return VmallocMeaning::address_space;
  return used == 0 ? VmallocMeaning::nothing : VmallocMeaning::memory;
}

// True if kernel stacks are in vmalloc areas, as on most architectures (CONFIG_VMAP_STACK). 32-bit x86 uses the page
// allocator for them. `used` is 0 if VmallocUsed does not count pages.
bool stacks_are_vmalloced(const KernelMemory& memory, ByteCount used, ByteCount stacks) {
  if (std::ranges::any_of(memory.vmalloc, &VmallocCaller::stacks)) return true;
  ByteCount listed = 0;
  for (const VmallocCaller& caller : memory.vmalloc) listed += caller.pages * memory.page_size;
  if (used <= listed + stacks) return false;  // otherwise, a copy of vmallocinfo may lack the areas of stacks
  constexpr std::array<std::string_view, 6> kWithout = {"i386", "i486", "i586", "i686", "mips", "mips64"};
  return std::ranges::find(kWithout, memory.machine) == kWithout.end();
}

// Adds vmalloc memory, using the pages in vmallocinfo. VmallocUsed shows whether vmallocinfo lacks areas.
void add_vmalloc_callers(Sheet& sheet, const KernelMemory& memory, VmallocMeaning meaning, bool without_stacks) {
  const ByteCount stacks = sheet.meminfo("KernelStack");
  ByteCount of_stacks = 0;
  ByteCount of_others = 0;
  for (const VmallocCaller& caller : memory.vmalloc)
    (caller.stacks ? of_stacks : of_others) += caller.pages * memory.page_size;
  const bool is_memory = meaning == VmallocMeaning::memory;
  sheet.group("vmalloc", "vmalloc",
              !is_memory       ? "vmallocinfo: pages"
              : without_stacks ? "meminfo: VmallocUsed - KernelStack"
                               : "meminfo: VmallocUsed");
  sheet.part("callers", "by caller", of_others, "vmallocinfo: pages");
  if (without_stacks)
    sheet.part("spare-stacks", "stacks kept for new tasks", of_stacks > stacks ? of_stacks - stacks : 0,
               "vmallocinfo: stacks - KernelStack");
  if (is_memory)
    sheet.last_part("rest", "not in vmallocinfo", sheet.meminfo("VmallocUsed") - (without_stacks ? stacks : 0),
                    "VmallocUsed - vmallocinfo: pages");
}

void add_vmalloc(Sheet& sheet, const KernelMemory& memory, ByteCount total) {
  const ByteCount used = sheet.meminfo("VmallocUsed");
  const ByteCount stacks = sheet.meminfo("KernelStack");
  const VmallocMeaning meaning = vmalloc_meaning(sheet, memory, total);
  const bool without_stacks = stacks_are_vmalloced(memory, meaning == VmallocMeaning::memory ? used : 0, stacks);
  if (!memory.vmalloc.empty())
    add_vmalloc_callers(sheet, memory, meaning, without_stacks);
  else if (meaning == VmallocMeaning::address_space)
    sheet.unknown_line("vmalloc", "vmalloc", "vmallocinfo is missing; VmallocUsed is address space");
  else if (meaning == VmallocMeaning::unknown)
    sheet.unknown_line("vmalloc", "vmalloc", "meminfo is cut after VmallocUsed, which may be address space");
  else if (meaning == VmallocMeaning::nothing)
    sheet.unknown_line("vmalloc", "vmalloc", "vmallocinfo is missing; VmallocUsed is always 0 here");
  else
    sheet.line("vmalloc", "vmalloc", used - (without_stacks ? stacks : 0),
               without_stacks ? "meminfo: VmallocUsed - KernelStack" : "meminfo: VmallocUsed");
  sheet.remark("recorder", "(kmemtrace's own BPF maps)", number_or_0(memory.recorder, "bpf_maps"),
               "recorder: bpf_maps, part of \"by caller\"");
  sheet.line("kernel-stacks", "kernel stacks", stacks, "meminfo: KernelStack");
}

void add_percpu(Sheet& sheet, const KernelMemory& memory) {
  if (!find_number(memory.meminfo, "Percpu"))
    return sheet.unknown_line("percpu", "percpu", "meminfo has Percpu since Linux 4.20");
  const ByteCount percpu = sheet.meminfo("Percpu");
  const ByteCount first = std::min(memory.percpu.first_chunk_bytes.value_or(0), percpu);
  sheet.line("percpu", "percpu", percpu - first,
             memory.percpu.first_chunk_bytes ? "meminfo: Percpu - dmesg: first chunk"
                                             : "meminfo: Percpu, some may be outside of MemTotal");
}

void add_other_counters(Sheet& sheet) {
  const ByteCount reclaimable = sheet.meminfo("KReclaimable");
  const ByteCount slab = sheet.meminfo("SReclaimable");
  sheet.group("others", "other counted kernel memory", "");
  sheet.part("reclaimable", "of drivers, reclaimable", reclaimable > slab ? reclaimable - slab : 0,
             "meminfo: KReclaimable - SReclaimable");
  sheet.part("gpu", "of GPU drivers", sheet.meminfo("GPUActive") + sheet.meminfo("GPUReclaim"),
             "meminfo: GPUActive + GPUReclaim");
  sheet.part("vendor", "of a vendor's drivers",
             sheet.meminfo("Gpu") + sheet.meminfo("ION_heap") + sheet.meminfo("ION_heap_pool"),
             "meminfo: Gpu + ION_heap + ION_heap_pool");
  sheet.part("zsmalloc", "compressed swap",
             std::max({sheet.vmstat_bytes("nr_zspages"), sheet.meminfo("Zswap"), sheet.meminfo("Zram")}),
             "vmstat: nr_zspages; meminfo: Zswap, Zram");
  sheet.part("memmap", "descriptions of pages", sheet.vmstat_bytes("nr_memmap_pages"), "vmstat: nr_memmap_pages");
  sheet.part("bounce", "bounce buffers", sheet.meminfo("Bounce"), "meminfo: Bounce");
  sheet.part("corrupted", "broken hardware", sheet.meminfo("HardwareCorrupted"), "meminfo: HardwareCorrupted");
}

ByteCount socket_bytes(const KernelMemory& memory) {
  ByteCount bytes = number_or_0(memory.sockets, "FRAG memory");
  for (const std::string_view name : {"TCP mem", "UDP mem"})
    bytes += number_or_0(memory.sockets, name) * memory.page_size;
  return bytes;
}

// Divides the last line into memory with and without a known owner.
void add_owners(Sheet& sheet, const KernelMemory& memory) {
  const ByteCount owned = unaccounted_bytes(memory.owners);
  sheet.remark("owned", "(with a known owner)", owned, "owners: see below");
  sheet.remark("rest", "(without a known owner)", sheet.last_bytes() - owned, "unaccounted - owners: see below");
}

}  // namespace

bool counts_all_huge_pages(const KernelMemory& memory) {
  return find_number(memory.meminfo, "Hugetlb") || !find_number(memory.meminfo, "HugePages_Total");
}

std::vector<BalanceLine> balance_sheet(const KernelMemory& memory, const std::vector<SlabCacheUse>& caches,
                                       std::uint64_t total) {
  Sheet sheet(memory);
  add_free(sheet, memory);
  add_user(sheet);
  add_hugetlb(sheet, memory);
  add_slab(sheet, memory, caches);
  add_vmalloc(sheet, memory, total);
  sheet.group("page-tables", "page tables", "");
  sheet.part("processes", "of processes", sheet.meminfo("PageTables"), "meminfo: PageTables");
  sheet.part("secondary", "of KVM and IOMMUs", sheet.meminfo("SecPageTables"), "meminfo: SecPageTables");
  add_percpu(sheet, memory);
  add_other_counters(sheet);
  if (const auto own = number_or_0(memory.recorder, "ring_buffers"); own != 0)
    sheet.line("recorder", "kmemtrace's own ring buffers", own, "recorder: ring_buffers");
  sheet.last_line("unaccounted", "unaccounted memory", total,
                  has_cpu_lists(memory) ? "MemTotal - all lines above"
                                        : "MemTotal - all lines above; with the CPUs' lists, as zoneinfo is missing");
  if (std::ranges::find(memory.has, "owners") != memory.has.end()) add_owners(sheet, memory);
  sheet.remark("sockets", "(sockets' buffers, at most)", socket_bytes(memory),
               "sockstat: TCP, UDP, FRAG, partly in slab");
  sheet.remark("cma", "(used pages of CMA areas)", used_cma(sheet, memory),
               "meminfo: CmaTotal - CmaFree, with user pages");
  sheet.remark("balloon", "(given to the hypervisor)", sheet.meminfo("Balloon"),
               "meminfo: Balloon, mostly not in MemTotal");
  return sheet.take();
}

}  // namespace kmt
