// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/snapshot/health.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/snapshot/amounts.hpp"
#include "analysis/snapshot/balance_sheet.hpp"
#include "results/snapshot/page_census.hpp"

namespace kmt {

namespace {

using Amount = std::optional<std::uint64_t>;  // empty: unknown

// Minimum number of bytes for a warning. On small machines, a large share of memory below this number is normal.
constexpr std::uint64_t kLeastBytes = 64 << 20;

Health health_at(double value, const HealthLimits& limits) {
  const auto beyond = [&](double limit) { return limits.low_is_bad ? value < limit : value >= limit; };
  return beyond(limits.bad) ? Health::bad : beyond(limits.warn) ? Health::warn : Health::ok;
}

// Returns the amount of a line of the balance sheet.
Amount line_bytes(const SnapshotResult& snapshot, std::string_view id) {
  const auto line = std::ranges::find(snapshot.sheet, id, &BalanceLine::id);
  if (line == snapshot.sheet.end() || !line->known || line->bytes < 0) return std::nullopt;
  return static_cast<std::uint64_t>(line->bytes);
}

class Checks {
 public:
  explicit Checks(const SnapshotResult& snapshot) : snapshot_(snapshot) {}

  void add(HealthTopic topic, std::optional<double> value, std::string subject = {}) {
    HealthCheck& check = checks_.emplace_back();
    check.topic = topic;
    check.value = value;
    check.subject = std::move(subject);
    if (value) check.health = health_at(*value, limits_of(topic));
  }
  // Adds the check of an amount as a share of `whole`.
  void add_share(HealthTopic topic, Amount bytes, Amount whole, std::string subject = {}) {
    const bool is_known = bytes && whole && *whole != 0;
    add(topic, is_known ? std::optional(static_cast<double>(*bytes) / static_cast<double>(*whole)) : std::nullopt,
        std::move(subject));
    if (!is_known) return;
    HealthCheck& check = checks_.back();
    check.bytes = bytes;
    if (*bytes < kLeastBytes && !limits_of(topic).low_is_bad) check.health = Health::ok;
  }
  // Adds the check of an amount as a share of the machine's memory.
  void add_share(HealthTopic topic, Amount bytes, std::string subject = {}) {
    add_share(topic, bytes, snapshot_.total == 0 ? Amount() : Amount(snapshot_.total), std::move(subject));
  }
  // Adds the check of a line of the balance sheet, as a share of the machine's memory. If the amount is a lower limit,
  // it can only show that the share is too large.
  void add_line(HealthTopic topic, std::string_view id, std::string subject = {}) {
    add_share(topic, line_bytes(snapshot_, id), std::move(subject));
    const auto line = std::ranges::find(snapshot_.sheet, id, &BalanceLine::id);
    if (line != snapshot_.sheet.end() && line->at_least && checks_.back().health == Health::ok) forget_last();
  }
  // Replaces the last check by an unknown one.
  void forget_last() {
    const HealthTopic topic = checks_.back().topic;
    checks_.back() = {};
    checks_.back().topic = topic;
  }
  Health last() const { return checks_.back().health; }
  std::vector<HealthCheck> take() { return std::move(checks_); }

 private:
  const SnapshotResult& snapshot_;
  std::vector<HealthCheck> checks_;
};

// Names the lines of the balance sheet whose memory is in "unaccounted", because their amounts are unknown.
std::string unknown_lines(const SnapshotResult& snapshot) {
  std::string names;
  for (const BalanceLine& line : snapshot.sheet)
    if (!line.known && line.counted && line.depth == 0 && line.id != "unaccounted")
      names += (names.empty() ? "with " : ", ") + line.label;
  if (!counts_all_huge_pages(snapshot.memory))
    names += std::string(names.empty() ? "with " : ", ") + "hugetlb of other sizes";
  return names;
}

// True if the snapshot has the whole file. If a part of the file is missing, sums over its lines are too small.
bool has_whole(const KernelMemory& memory, std::string_view file) {
  const bool lacks_part = lacks(memory, file) || (file == "slabinfo" && lacks_caches(memory));
  return !lacks_part && std::ranges::find(memory.has, file) != memory.has.end();
}

// True if the snapshot has all zones of the machine. A report in the kernel's log may have only some of them.
bool has_all_zones(const KernelMemory& memory, std::string_view file) {
  if (!memory.oom) return has_whole(memory, file);
  const Amount free = find_number(memory.meminfo, "MemFree");
  std::uint64_t in_zones = 0;
  for (const MemoryZone& zone : memory.zones) {
    const std::uint64_t pages = number_or_0(zone.values, "free");
    if (file == "buddyinfo" && pages != 0 && zone.free.empty()) return false;
    in_zones += pages * memory.page_size;
  }
  return free && in_zones >= *free - *free / 8;  // other CPUs change the counters while the file is read
}

void add_slab(const SnapshotResult& snapshot, Checks& checks) {
  std::uint64_t kmalloc = 0;
  for (const SlabCacheUse& cache : snapshot.caches) {
    const std::string_view name = cache.name;
    // In Linux 3.6 and earlier, SLAB has kmalloc caches with names such as "size-64".
    const bool is_kmalloc = name.starts_with("kmalloc-") || name.starts_with("size-");
    if (is_kmalloc && !name.starts_with("kmalloc-rcl-")) kmalloc += cache.bytes;
  }
  // A report in the kernel's log contains only unreclaimable caches.
  const bool has_all = !snapshot.caches.empty() && !snapshot.memory.oom && has_whole(snapshot.memory, "slabinfo");
  const Amount in_use = line_bytes(snapshot, "slab.in-use");
  const Amount padding = has_all ? line_bytes(snapshot, "slab.padding") : Amount();
  checks.add_share(HealthTopic::unreclaimable_slab, find_number(snapshot.memory.meminfo, "SUnreclaim"));
  checks.add_share(HealthTopic::kmalloc, has_all ? Amount(kmalloc) : Amount());
  checks.add_share(HealthTopic::empty_slabs, has_all ? line_bytes(snapshot, "slab.empty") : Amount());
  checks.add_share(HealthTopic::slab_padding, padding, in_use && padding ? Amount(*in_use + *padding) : Amount());
}

void add_vmalloc_caller(const SnapshotResult& snapshot, Checks& checks) {
  const VmallocCaller* largest = nullptr;
  for (const VmallocCaller& caller : snapshot.memory.vmalloc)
    if (!caller.stacks && (largest == nullptr || caller.pages > largest->pages)) largest = &caller;
  if (largest == nullptr || !is_known(SnapshotPart::vmalloc, snapshot))
    return checks.add_share(HealthTopic::vmalloc_caller, Amount());
  checks.add_share(HealthTopic::vmalloc_caller, largest->pages * snapshot.memory.page_size, largest->function);
}

void add_sockets(const KernelMemory& memory, Checks& checks) {
  Amount pages = find_number(memory.sockets, "TCP mem");
  if (pages) *pages += number_or_0(memory.sockets, "UDP mem");
  checks.add_share(HealthTopic::sockets, pages ? Amount(*pages * memory.page_size) : Amount());
}

void add_dying_cgroups(const SnapshotResult& snapshot, Checks& checks) {
  if (!is_known(SnapshotPart::dying_cgroups, snapshot)) return checks.add(HealthTopic::dying_cgroups, std::nullopt);
  std::uint64_t count = 0;
  for (const DyingCgroups& dying : snapshot.dying_cgroups) count += dying.count;
  checks.add(HealthTopic::dying_cgroups, static_cast<double>(count),
             snapshot.dying_cgroups.empty() ? "" : snapshot.dying_cgroups.front().below);
}

// Adds the check of free memory in small blocks. The kernel calls this share the unusable free space index
// (mm/vmstat.c, unusable_free_index).
void add_fragmentation(const KernelMemory& memory, Checks& checks) {
  constexpr std::size_t kOrder = 3;
  constexpr std::size_t kMostOrders = 32;  // maximum number of orders that count; a damaged file may have more
  std::uint64_t all = 0;
  std::uint64_t small = 0;
  for (const MemoryZone& zone : memory.zones)
    for (std::size_t order = 0; order < std::min(zone.free.size(), kMostOrders); ++order) {
      const std::uint64_t bytes = (zone.free[order] << order) * memory.page_size;
      all += bytes;
      if (order < kOrder) small += bytes;
    }
  const bool is_known = all != 0 && has_all_zones(memory, "buddyinfo");
  checks.add_share(HealthTopic::fragmentation, is_known ? Amount(small) : Amount(), all);
}

// Linux 5.4 with a large balloon prints zone watermarks that exceed the machine's memory. Such numbers are ignored.
void add_min_free(const KernelMemory& memory, Checks& checks) {
  Amount pages;
  for (const MemoryZone& zone : memory.zones)
    if (const auto least = find_number(zone.values, "min")) pages = pages.value_or(0) + *least;
  const std::uint64_t total = number_or_0(memory.meminfo, "MemTotal");
  const bool is_known = pages && *pages <= total / memory.page_size && has_all_zones(memory, "zoneinfo");
  checks.add_share(HealthTopic::min_free, is_known ? Amount(*pages * memory.page_size) : Amount());
}

// Adds the check of huge pages. Pages that are free, but reserved for a mapping, count as used.
void add_hugetlb(const KernelMemory& memory, Checks& checks) {
  const Amount free = find_number(memory.meminfo, "HugePages_Free");
  const std::uint64_t reserved = number_or_0(memory.meminfo, "HugePages_Rsvd");
  const Amount each = find_number(memory.meminfo, "Hugepagesize");
  checks.add_share(HealthTopic::hugetlb, free && each ? Amount((*free - std::min(*free, reserved)) * *each) : Amount());
}

// Adds the check of unaccounted memory. Unknown lines of the sheet are part of this memory, so it may be too large. If
// huge pages are unknown, a bad result is dropped: they can be any part of the machine's memory. Other lines are small.
void add_unaccounted(const SnapshotResult& snapshot, Checks& checks) {
  checks.add_line(HealthTopic::unaccounted, "unaccounted", unknown_lines(snapshot));
  const auto huge = std::ranges::find(snapshot.sheet, "hugetlb", &BalanceLine::id);
  const bool is_unknown = huge != snapshot.sheet.end() && !huge->known;
  if (is_unknown && checks.last() != Health::ok) checks.forget_last();
}

// Adds the check of pageblocks that hold movable and unmovable pages. Only a census of page frames shows them.
void add_polluted_blocks(const SnapshotResult& snapshot, Checks& checks) {
  std::optional<double> share;
  if (snapshot.pages != nullptr && snapshot.pages->pageblocks.all != 0)
    share = static_cast<double>(snapshot.pages->pageblocks.mixed) / static_cast<double>(snapshot.pages->pageblocks.all);
  checks.add(HealthTopic::polluted_blocks, share);
}

}  // namespace

std::vector<HealthCheck> health_of(const SnapshotResult& snapshot) {
  const KernelMemory& memory = snapshot.memory;
  Checks checks(snapshot);
  checks.add_share(HealthTopic::available, find_number(memory.meminfo, "MemAvailable"));
  add_slab(snapshot, checks);
  checks.add_line(HealthTopic::page_tables, "page-tables");
  checks.add_line(HealthTopic::kernel_stacks, "kernel-stacks");
  checks.add_line(HealthTopic::percpu, "percpu");
  add_vmalloc_caller(snapshot, checks);
  add_sockets(memory, checks);
  add_dying_cgroups(snapshot, checks);
  add_unaccounted(snapshot, checks);
  add_fragmentation(memory, checks);
  add_min_free(memory, checks);
  add_hugetlb(memory, checks);
  const Amount balloon = find_number(memory.meminfo, "Balloon");
  checks.add_share(HealthTopic::balloon, balloon, snapshot.total + balloon.value_or(0));
  const Amount corrupted = find_number(memory.meminfo, "HardwareCorrupted");
  checks.add(HealthTopic::corrupted, corrupted ? std::optional(static_cast<double>(*corrupted)) : std::nullopt);
  add_polluted_blocks(snapshot, checks);
  checks.add(HealthTopic::pressure, memory.pressure_in_5_minutes);
  return checks.take();
}

}  // namespace kmt
