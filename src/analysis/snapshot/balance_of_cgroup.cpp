// SPDX-License-Identifier: GPL-2.0-or-later
// The balance sheet of a cgroup that reached its limit, from a log of an OOM kill. Its lines add up to the usage.
#include <algorithm>
#include <optional>
#include <string_view>

#include "analysis/snapshot/balance_sheet.hpp"
#include "analysis/snapshot/sheet.hpp"

namespace kmt {

namespace {

using Amount = std::optional<ByteCount>;  // empty if the log does not contain it

// The kinds of kernel memory that a cgroup has counters for.
struct KernelParts {
  Amount slab, stacks, tables, secondary_tables, percpu, vmalloc, zswap;

  ByteCount sum() const {
    ByteCount sum = 0;
    for (const Amount& part : {slab, stacks, tables, secondary_tables, percpu, vmalloc, zswap}) sum += part.value_or(0);
    return sum;
  }
};

// Adds the lines of user memory. Version 1 counts the swap cache as anonymous memory, and version 2 as file memory.
void add_user(Sheet& sheet, const NamedAmounts& values) {
  const auto counted = [&](std::string_view name) { return find_number(values, name); };
  const bool is_version_2 = counted("anon") || counted("file");
  const Amount cache = counted(is_version_2 ? "file" : "cache");
  const ByteCount others = counted("shmem").value_or(0) + counted("swapcached").value_or(0);
  sheet.group("user", "user", "");
  sheet.part("anonymous", "anonymous", counted(is_version_2 ? "anon" : "rss"), is_version_2 ? "oom: anon" : "oom: rss");
  sheet.part("page-cache", "files' and devices' page cache",
             cache ? Amount(*cache - std::min(*cache, others)) : std::nullopt,
             is_version_2 ? "oom: file - shmem - swapcached" : "oom: cache - shmem");
  // old kernels do not count shared memory
  sheet.part("shmem", "shared memory and tmpfs", cache ? counted("shmem").value_or(0) : counted("shmem"), "oom: shmem");
  sheet.remark("huge", "(in huge pages)",
               is_version_2 ? counted("anon_thp").value_or(0) : counted("rss_huge").value_or(0),
               is_version_2 ? "oom: anon_thp" : "oom: rss_huge");
}

void add_kernel(Sheet& sheet, const KernelParts& parts, const NamedAmounts& values) {
  const auto counted = [&](std::string_view name) { return find_number(values, name); };
  const Amount kernel = counted("kernel") ? counted("kernel") : counted("kmem.usage_in_bytes");
  // If the sum of the kernel's memory is known, "other kernel memory" contains the kinds that are unknown.
  const auto add = [&](const char* id, const char* label, const Amount& bytes, const char* source) {
    if (bytes || !kernel) sheet.known_line(id, label, bytes, source);
  };
  if (counted("slab_unreclaimable") && counted("slab_reclaimable")) {
    sheet.group("slab", "slab", "");
    sheet.part("unreclaimable", "unreclaimable", counted("slab_unreclaimable"), "oom: slab_unreclaimable");
    sheet.part("reclaimable", "reclaimable", counted("slab_reclaimable"), "oom: slab_reclaimable");
  } else {
    add("slab", "slab", parts.slab, "oom: slab");
  }
  add("vmalloc", "vmalloc", parts.vmalloc, "oom: vmalloc");
  add("kernel-stacks", "kernel stacks", parts.stacks, "oom: kernel_stack");
  if (parts.tables || !kernel) {
    sheet.group("page-tables", "page tables", "");
    sheet.part("processes", "of processes", parts.tables, "oom: pagetables");
    sheet.part("secondary", "of KVM and IOMMUs",
               parts.tables ? parts.secondary_tables.value_or(0) : parts.secondary_tables, "oom: sec_pagetables");
  }
  add("percpu", "percpu", parts.percpu, "oom: percpu");
  sheet.group("others", "other counted memory", "");
  if (counted("sock") || !kernel) sheet.part("sockets", "buffers of sockets", counted("sock"), "oom: sock");
  const bool has_statistics = counted("anon") || counted("cache");
  sheet.part("zswap", "compressed swap", has_statistics ? parts.zswap.value_or(0) : parts.zswap, "oom: zswap");
  if (kernel)
    sheet.part("kernel", "other kernel memory", *kernel - std::min(*kernel, parts.sum()),
               counted("kernel") ? "oom: kernel - the kernel's lines above" : "oom: kmem - the kernel's lines above");
}

}  // namespace

std::vector<BalanceLine> balance_of_cgroup(const KernelMemory& memory, std::uint64_t total) {
  const NamedAmounts& values = memory.oom->cgroup->memory.values;
  const auto counted = [&](std::string_view name) { return find_number(values, name); };
  KernelParts parts{.slab = counted("slab"),
                    .stacks = counted("kernel_stack"),
                    .tables = counted("pagetables"),
                    .secondary_tables = counted("sec_pagetables"),
                    .percpu = counted("percpu"),
                    .vmalloc = counted("vmalloc"),
                    .zswap = counted("zswap")};
  if (const auto unreclaimable = counted("slab_unreclaimable"), reclaimable = counted("slab_reclaimable");
      unreclaimable && reclaimable)
    parts.slab = *unreclaimable + *reclaimable;
  Sheet sheet(memory);
  add_user(sheet, values);
  if (const auto hugetlb = counted("hugetlb")) sheet.line("hugetlb", "hugetlb", *hugetlb, "oom: hugetlb");
  add_kernel(sheet, parts, values);
  if (sheet.lacks("user"))
    sheet.unknown_line("unaccounted", "unaccounted memory", "the report lacks large parts of memory");
  else
    sheet.last_line("unaccounted", "unaccounted memory", total, "oom: memory: usage - all lines above");
  return sheet.take();
}

}  // namespace kmt
