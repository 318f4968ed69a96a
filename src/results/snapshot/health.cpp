// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/snapshot/health.hpp"

#include <algorithm>
#include <array>

namespace kmt {

namespace {

// All limits were chosen by judgement. tests/unit/analysis/snapshot/health_test.cpp checks them with snapshots of
// healthy machines.
constexpr std::array<HealthLimits, 19> kLimits = {{
    {HealthTopic::available, "available", "memory available without swapping", HealthUnit::share, 0.05, 0.02,
     "The kernel soon has to reclaim memory for each allocation, and then to kill a process.", true},
    {HealthTopic::unreclaimable_slab, "unreclaimable_slab", "unreclaimable slab memory", HealthUnit::share, 0.1, 0.25,
     "The kernel cannot free these objects. If the amount keeps growing, it is a leak: run `kmemtrace investigate`."},
    {HealthTopic::kmalloc, "kmalloc", "kmalloc caches", HealthUnit::share, 0.1, 0.2,
     "kmalloc caches have no names for their users. `kmemtrace record --stacks` shows who allocates from them."},
    {HealthTopic::empty_slabs, "empty_slabs", "free objects in slabs", HealthUnit::share, 0.05, 0.1,
     "Slabs with a few live objects keep much memory that nothing else can use."},
    {HealthTopic::slab_padding, "slab_padding", "padding, of the slab objects", HealthUnit::share, 0.25, 0.5,
     "Debug options such as slab_debug or KASAN add padding to each object. Without them, slabs need less memory."},
    {HealthTopic::page_tables, "page_tables", "page tables", HealthUnit::share, 0.05, 0.1,
     "Many processes map the same memory, or mappings are sparse. Huge pages need fewer page tables."},
    {HealthTopic::kernel_stacks, "kernel_stacks", "kernel stacks", HealthUnit::share, 0.03, 0.06,
     "Each thread has a kernel stack. Look for a program that keeps starting threads."},
    {HealthTopic::percpu, "percpu", "percpu memory", HealthUnit::share, 0.05, 0.1,
     "Each CPU has a copy of this memory. Cgroups, network devices and BPF maps are the usual owners."},
    {HealthTopic::vmalloc_caller, "vmalloc_caller", "largest vmalloc caller", HealthUnit::share, 0.05, 0.1,
     "One function holds this much memory in vmalloc areas."},
    {HealthTopic::sockets, "sockets", "buffers of TCP and UDP sockets", HealthUnit::share, 0.05, 0.1,
     "Programs do not read their sockets as fast as data arrives. `ss -tumpi` lists the sockets."},
    {HealthTopic::dying_cgroups, "dying_cgroups", "removed cgroups that still hold memory", HealthUnit::count, 2000,
     10000,
     "Page cache and slab objects keep removed cgroups alive, and each of them needs percpu memory. Reclaim "
     "frees them: write to memory.reclaim of the cgroup above them."},
    {HealthTopic::unaccounted, "unaccounted", "unaccounted memory", HealthUnit::share, 0.1, 0.2,
     "No counter in the snapshot covers this memory. Drivers, balloons and network devices allocate such pages "
     "directly. `kmemtrace "
     "record --stacks` and `kmemtrace leaks` show who does."},
    {HealthTopic::fragmentation, "fragmentation", "free memory in blocks below 8 pages", HealthUnit::share, 0.95, 0.995,
     "Allocations of 8 contiguous pages may fail or wait for compaction."},
    {HealthTopic::min_free, "min_free", "memory reserved by min_free_kbytes", HealthUnit::share, 0.05, 0.1,
     "Programs cannot use this memory. Check vm.min_free_kbytes."},
    {HealthTopic::hugetlb, "hugetlb", "unused hugetlb pages", HealthUnit::share, 0.1, 0.25,
     "These pages are reserved for hugetlb, and nothing uses them. Check vm.nr_hugepages."},
    {HealthTopic::balloon, "balloon", "memory given back to the hypervisor", HealthUnit::share, 0.25, 0.5,
     "The hypervisor has taken this memory from the machine."},
    {HealthTopic::corrupted, "corrupted", "memory with hardware errors", HealthUnit::bytes, 1, 1 << 20,
     "The kernel has found hardware errors in this memory and no longer uses it."},
    {HealthTopic::polluted_blocks, "polluted_blocks", "pageblocks with both movable and unmovable pages",
     HealthUnit::share, 0.75, 0.9,
     "Unmovable pages prevent huge pages and other large allocations in these blocks, and compaction cannot help. "
     "`kmemtrace pages` shows who allocates unmovable pages."},
    {HealthTopic::pressure, "pressure", "time in which tasks waited for memory (last 5 minutes)", HealthUnit::share,
     0.1, 0.4,
     "Tasks reclaim or compact memory instead of working. Tasks in cgroups that are at their own memory limit count "
     "too. `kmemtrace record --stalls` and `kmemtrace pages --stalls` "
     "show which tasks wait, and for what."},
}};

}  // namespace

std::span<const HealthLimits> health_limits() { return kLimits; }
const HealthLimits& limits_of(HealthTopic topic) { return kLimits[static_cast<std::size_t>(topic)]; }

std::string_view name_of(Health health) {
  switch (health) {
    case Health::ok: return "ok";
    case Health::warn: return "warn";
    case Health::bad: return "bad";
    case Health::unknown: break;
  }
  return "unknown";
}

std::size_t count_of(const std::vector<HealthCheck>& checks, Health health) {
  return static_cast<std::size_t>(std::ranges::count(checks, health, &HealthCheck::health));
}

}  // namespace kmt
