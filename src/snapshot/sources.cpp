// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/sources.hpp"

#include <array>

namespace kmt {

namespace {

constexpr std::string_view kProc = "mount -t proc proc /proc";
constexpr std::string_view kSlubTraces = "boot with slub_debug=U, or slub_debug=U,CACHE for some caches";

constexpr std::array<SnapshotSource, 18> kSources = {{
    {"meminfo", "/proc/meminfo", SourceKind::file, kProc},
    {"vmstat", "/proc/vmstat", SourceKind::file, kProc},
    {"zoneinfo", "/proc/zoneinfo", SourceKind::file, kProc},
    {"slabinfo", "/proc/slabinfo", SourceKind::file, "a kernel with CONFIG_SLUB_DEBUG"},
    {"vmallocinfo", "/proc/vmallocinfo", SourceKind::file, "a kernel with CONFIG_MMU"},
    {"sockstat", "/proc/net/sockstat", SourceKind::file, "a kernel with CONFIG_INET"},
    {"buddyinfo", "/proc/buddyinfo", SourceKind::file, kProc},
    {"pagetypeinfo", "/proc/pagetypeinfo", SourceKind::file, kProc},
    {"owners", "owners of unaccounted memory", SourceKind::owners, "run as root"},
    {"dmesg", "the kernel's log", SourceKind::boot_messages, "journalctl -k -b > FOLDER/dmesg, and --from FOLDER"},
    {"percpu_stats", "/sys/kernel/debug/percpu_stats", SourceKind::file, "a kernel with CONFIG_PERCPU_STATS"},
    {"allocinfo", "/proc/allocinfo", SourceKind::file,
     "a kernel (Linux 6.10 or later) with CONFIG_MEM_ALLOC_PROFILING, booted with sysctl.vm.mem_profiling=1"},
    {"slab", "/sys/kernel/slab", SourceKind::slab_folder, "a kernel with CONFIG_SLUB_DEBUG and CONFIG_SYSFS"},
    {"cgroups", "/sys/fs/cgroup", SourceKind::cgroups,
     "a kernel with CONFIG_MEMCG, booted without cgroup_disable=memory; echo +memory > cgroup.subtree_control"},
    {"alloc_traces", "/sys/kernel/debug/slab", SourceKind::slab_traces, kSlubTraces},
    {"free_traces", "/sys/kernel/debug/slab", SourceKind::slab_traces, kSlubTraces},
    {"page_owner", "/sys/kernel/debug/page_owner", SourceKind::file,
     "a kernel with CONFIG_PAGE_OWNER, booted with page_owner=on"},
    {"kmemleak", "/sys/kernel/debug/kmemleak", SourceKind::file,
     "a kernel with CONFIG_DEBUG_KMEMLEAK, booted with kmemleak=on"},
}};

}  // namespace

std::span<const SnapshotSource> snapshot_sources() { return kSources; }

}  // namespace kmt
