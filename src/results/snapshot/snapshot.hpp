// SPDX-License-Identifier: GPL-2.0-or-later
// A snapshot of kernel memory: a balance sheet, and details of its largest lines.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "results/columns.hpp"
#include "results/snapshot/health.hpp"
#include "trace/state/kernel_memory.hpp"

namespace kmt {

struct PageCensus;

struct BalanceLine {
  std::string id;          // ID such as "slab.in-use"; the meaning of an ID never changes
  std::string label;       // readable name
  std::int64_t bytes = 0;  // negative if the files of `source` contradict each other
  unsigned depth = 0;      // 0: a part of MemTotal; 1: a part of the preceding line with depth 0
  bool counted = true;     // false: a remark, whose bytes are already in other lines
  // False: no file contains the amount, or only parts that are 0 are known. `bytes` is then 0.
  bool known = true;
  bool at_least = false;    // true: a part is unknown, so `bytes` is a lower limit
  std::string source = {};  // names of the files from which the amount is computed

  bool is_exact() const { return known && !at_least; }
  bool is_contradiction() const { return counted && bytes < 0; }
};

// A slab cache as slabinfo and /sys/kernel/slab describe it.
struct SlabCacheUse {
  std::string name;
  std::vector<std::string> aliases;  // names of caches that SLUB has merged into this cache
  std::uint64_t bytes = 0;           // bytes of the slabs
  std::uint64_t in_use = 0;          // requested bytes of objects in use
  std::uint64_t free = 0;            // bytes of free objects in slabs
  std::uint64_t padding = 0;         // bytes between objects: alignment and metadata
  std::uint64_t tails = 0;           // unused bytes at the ends of slabs
  std::uint64_t active_objects = 0;
  std::uint64_t objects = 0;
  std::uint64_t object_bytes = 0;  // size of an object in bytes, including padding; 0: the numbers of objects and slabs
                                   // are unknown
  std::uint64_t slabs = 0;
  const SlabAttributes* attributes = nullptr;  // points into the SnapshotResult of this cache; null: unknown

  // Returns the bytes of an object, without padding if the size without padding is known.
  std::uint64_t asked_bytes() const {
    return attributes != nullptr ? std::min(attributes->object_bytes.value_or(object_bytes), object_bytes)
                                 : object_bytes;
  }
};
// Returns a map from the names of caches to the caches. It contains all names of merged caches, and the name of their
// folder, which alloc_traces uses. The pointers and names point into `caches`.
std::unordered_map<std::string_view, const SlabCacheUse*> caches_by_name(const std::vector<SlabCacheUse>& caches);

// Removed cgroups that still hold memory, below a cgroup that still exists. The amounts are upper bounds, because they
// include memory of the existing cgroup itself. Amounts are empty if unknown.
struct DyingCgroups {
  std::string below;  // path of the cgroup that still exists
  std::uint64_t count = 0;
  std::optional<std::uint64_t> existing;  // number of existing cgroups below the cgroup
  std::optional<std::uint64_t> kernel_bytes;
  std::optional<std::uint64_t> slab_bytes;
  std::optional<std::uint64_t> percpu_bytes;
  std::optional<std::uint64_t> file_bytes;
  std::optional<std::uint64_t> anonymous_bytes;
};

struct SnapshotResult {
  KernelMemory memory;
  std::uint64_t total = 0;  // MemTotal, or the usage of the cgroup that the snapshot shows
  std::vector<BalanceLine> sheet;
  std::vector<SlabCacheUse> caches;
  std::vector<DyingCgroups> dying_cgroups;  // largest number first
  std::vector<HealthCheck> health;          // in the order of HealthTopic
  std::shared_ptr<const PageCensus> pages;  // null: the page frames were not counted
  std::vector<std::string> files;           // only for copied files: names of the files that were read
  std::string log;                          // only for copied files: name of the file with reports of OOM kills
  std::size_t log_reports = 0;              // number of reports in `log`

  SnapshotResult() = default;
  SnapshotResult(const SnapshotResult&) = delete;  // not copyable, because `caches` points into `memory`
  SnapshotResult& operator=(const SnapshotResult&) = delete;
  SnapshotResult(SnapshotResult&&) = default;
  SnapshotResult& operator=(SnapshotResult&&) = default;
};

std::span<const Column<SlabCacheUse>> slab_cache_columns();

// Return the kernel or user memory of a cgroup and its children, in bytes. Empty if the cgroup's files do not contain
// it.
std::optional<std::uint64_t> kernel_bytes(const CgroupMemory& cgroup);
std::optional<std::uint64_t> user_bytes(const CgroupMemory& cgroup);

// The parts of a snapshot that can be compared with those of another snapshot.
enum class SnapshotPart : std::uint8_t {
  balance_sheet,
  slab_caches,
  vmalloc,           // amounts by caller
  allocinfo,         // amounts by line of allocinfo
  cgroups,           // amounts by cgroup, including its children
  dying_cgroups,     // numbers of removed cgroups, by the existing cgroup above them
  slab_allocations,  // amounts by call site in SLUB's alloc_traces
  page_owners,       // amounts by stack
  owners,            // amounts of unaccounted memory by owner
  page_blocks,       // amounts of the page census by kind and order
  page_flags,        // amounts of other kernel pages in the page census by flags
  nodes,             // amounts of each NUMA node by line of its meminfo, if there are several nodes
};
inline constexpr std::array kSnapshotParts = {
    SnapshotPart::balance_sheet, SnapshotPart::slab_caches,   SnapshotPart::vmalloc,          SnapshotPart::allocinfo,
    SnapshotPart::cgroups,       SnapshotPart::dying_cgroups, SnapshotPart::slab_allocations, SnapshotPart::page_owners,
    SnapshotPart::owners,        SnapshotPart::page_blocks,   SnapshotPart::page_flags,       SnapshotPart::nodes};
// True if the amounts of this part are numbers of removed cgroups. In a series, all other parts have amounts in bytes.
constexpr bool counts_cgroups(SnapshotPart part) { return part == SnapshotPart::dying_cgroups; }
struct SnapshotPartText {
  std::string_view id;       // name in JSON
  std::string_view heading;  // "Slab caches"
  std::string_view one;      // "Cache"
};
const SnapshotPartText& describe(SnapshotPart part);

// The amounts that one name has in two snapshots.
struct SnapshotChange {
  std::string name;
  std::int64_t a = 0;
  std::int64_t b = 0;
};

// A line that is in one or both of two balance sheets. `a` or `b` is empty if a file for computing this amount is
// missing in the snapshot.
struct BalanceChange {
  BalanceLine line;  // the line in one of the two sheets; BalanceLine::bytes has no meaning here
  std::optional<std::int64_t> a;
  std::optional<std::int64_t> b;
};

struct SnapshotDiff {
  std::uint64_t a_unix_ns = 0;  // 0: unknown
  std::uint64_t b_unix_ns = 0;
  std::string a_host;  // name of the machine; empty if unknown
  std::string b_host;
  std::string a_kernel;
  std::string b_kernel;
  std::vector<BalanceChange> sheet;
  // The changes are sorted by size, the largest first. Names without a change are left out.
  std::vector<SnapshotChange> caches;
  std::vector<SnapshotChange> vmalloc;
  std::vector<SnapshotChange> allocinfo;
  std::vector<SnapshotChange> cgroups;
  std::vector<SnapshotChange> dying_cgroups;     // amounts are numbers of removed cgroups
  std::vector<SnapshotChange> slab_allocations;  // amounts are numbers of objects, not bytes
  std::vector<SnapshotChange> page_owners;
  std::vector<SnapshotChange> owners;
  std::vector<SnapshotChange> page_blocks;
  std::vector<SnapshotChange> page_flags;
  std::vector<SnapshotChange> nodes;
  std::vector<SnapshotPart> not_compared;  // parts that are missing or incomplete in one snapshot
};

}  // namespace kmt
