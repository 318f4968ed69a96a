// SPDX-License-Identifier: GPL-2.0-or-later
// Use of the kernel's memory: a balance sheet, and the parts of its largest lines.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "results/columns.hpp"
#include "trace/state/kernel_memory.hpp"

namespace kmt {

struct BalanceLine {
  std::string id;      // "slab.in-use"; never changes its meaning
  std::string label;   // for people
  std::int64_t bytes;  // negative where the kernel's files, read one after the other, disagree
  unsigned depth;      // 0: the lines that add up to MemTotal; 1: parts that add up to the line above them
  bool counted;        // false: a remark; its bytes are in other lines
  std::string source;  // which files say so
};

// A slab cache, of slabinfo and /sys/kernel/slab.
struct SlabCacheUse {
  std::string name;
  std::vector<std::string> aliases;  // caches that were merged with it
  std::uint64_t bytes = 0;           // of its slabs
  std::uint64_t in_use = 0;          // bytes that objects asked for
  std::uint64_t free = 0;            // bytes of objects that are held but empty
  std::uint64_t padding = 0;         // bytes between objects: alignment and metadata
  std::uint64_t tails = 0;           // bytes at the ends of slabs
  std::uint64_t active_objects = 0;
  std::uint64_t objects = 0;
  std::uint64_t object_bytes = 0;  // with padding
  std::uint64_t slabs = 0;
  const SlabAttributes* attributes = nullptr;  // of the same result; null: not known

  // Bytes of an object, without padding if known.
  std::uint64_t asked_bytes() const {
    return attributes != nullptr ? std::min(attributes->object_bytes.value_or(object_bytes), object_bytes)
                                 : object_bytes;
  }
};
// By all names that a cache has: alloc_traces names merged ones as their folder is called. Borrowed.
std::unordered_map<std::string_view, const SlabCacheUse*> caches_by_name(const std::vector<SlabCacheUse>& caches);

struct SnapshotResult {
  KernelMemory memory;
  std::uint64_t total = 0;  // MemTotal
  std::vector<BalanceLine> sheet;
  std::vector<SlabCacheUse> caches;

  SnapshotResult() = default;
  SnapshotResult(const SnapshotResult&) = delete;  // caches point into memory
  SnapshotResult& operator=(const SnapshotResult&) = delete;
  SnapshotResult(SnapshotResult&&) = default;
  SnapshotResult& operator=(SnapshotResult&&) = default;
};

std::span<const Column<SlabCacheUse>> slab_cache_columns();

// The kernel's memory for a cgroup and its children, by its files. Empty: unknown.
std::optional<std::uint64_t> kernel_bytes(const CgroupMemory& cgroup);
std::optional<std::uint64_t> user_bytes(const CgroupMemory& cgroup);

// Parts that can be compared between snapshots.
enum class SnapshotPart : std::uint8_t {
  balance_sheet,
  slab_caches,
  vmalloc,           // callers
  allocinfo,         // lines
  cgroups,           // with those in them
  slab_allocations,  // call sites of SLUB's alloc_traces
  page_owners,       // stacks
};
inline constexpr std::array kSnapshotParts = {
    SnapshotPart::balance_sheet, SnapshotPart::slab_caches,      SnapshotPart::vmalloc,    SnapshotPart::allocinfo,
    SnapshotPart::cgroups,       SnapshotPart::slab_allocations, SnapshotPart::page_owners};
struct SnapshotPartText {
  std::string_view id;       // of JSON
  std::string_view heading;  // "Slab caches"
  std::string_view one;      // "Cache"
};
const SnapshotPartText& describe(SnapshotPart part);

// One name's amounts in two snapshots.
struct SnapshotChange {
  std::string name;
  std::int64_t a = 0;
  std::int64_t b = 0;
};

// A line of two balance sheets. Empty: that snapshot lacks a file that the line comes from.
struct BalanceChange {
  BalanceLine line;  // of either of them: `bytes` means nothing here
  std::optional<std::int64_t> a;
  std::optional<std::int64_t> b;
};

struct SnapshotDiff {
  std::uint64_t a_unix_ns = 0;  // 0: not known
  std::uint64_t b_unix_ns = 0;
  std::string a_kernel;
  std::string b_kernel;
  std::vector<BalanceChange> sheet;
  // By the size of the change; what did not change is left out.
  std::vector<SnapshotChange> caches;
  std::vector<SnapshotChange> vmalloc;
  std::vector<SnapshotChange> allocinfo;
  std::vector<SnapshotChange> cgroups;
  std::vector<SnapshotChange> slab_allocations;  // counts of objects
  std::vector<SnapshotChange> page_owners;
  std::vector<SnapshotPart> not_compared;  // missing or incomplete in one of the two
};

}  // namespace kmt
