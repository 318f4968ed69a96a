// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/report/traffic_log.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace kmt {

namespace {

// Maximum number of entries, which need about 150 MiB. If there are more groups than this number, each group has one
// entry.
constexpr std::size_t kMostOfGroups = 2'000'000;
constexpr std::size_t kMostOfOthers = 100'000;
constexpr std::size_t kMostLives = 150'000;

}  // namespace

TrafficLog::Sums::Sums(std::uint64_t start_ns)
    : groups(start_ns, kMostOfGroups),
      sizes(start_ns, kMostOfOthers),
      lifetimes(start_ns, kMostOfOthers),
      cpus(start_ns, kMostOfOthers),
      lives(start_ns, kMostLives) {}

void TrafficLog::see(const Event& event) {
  if (!sums_) sums_.emplace(event.time_ns);
  now_ns_ = event.time_ns;
  cpu_ = event.cpu;
}

void TrafficLog::began(const Origin& origin) {
  TrafficCounts& counts = sums_->groups.at(origin.group, now_ns_);
  ++counts.allocations;
  counts.requested += origin.bytes_requested;
  counts.allocated += origin.bytes_allocated;
  if (origin.allocator != Allocator::slab) return;
  const auto [id, is_new] = sizes_.id_of({origin.bytes_requested, origin.bytes_allocated, origin.call_site.value});
  ++sums_->sizes.at(id, now_ns_).allocations;
}

void TrafficLog::replaced(const Origin& origin, std::uint64_t bytes, bool whole) {
  TrafficCounts& counts = sums_->groups.at(origin.group, now_ns_);
  counts.replaced += bytes;
  if (whole) ++counts.replacements;
}

void TrafficLog::took_back(const Origin& origin) {
  TrafficCounts& counts = sums_->groups.at(origin.group, now_ns_);
  --counts.allocations;
  counts.requested -= origin.bytes_requested;
  counts.allocated -= origin.bytes_allocated;
  --counts.replacements;
  counts.replaced -= origin.bytes_allocated;
  const auto [id, is_new] = sizes_.id_of({origin.bytes_requested, origin.bytes_allocated, origin.call_site.value});
  --sums_->sizes.at(id, now_ns_).allocations;
}

void TrafficLog::freed(const Origin& origin, std::uint64_t bytes, bool whole, std::uint64_t began_ns,
                       std::uint16_t began_cpu) {
  TrafficCounts& counts = sums_->groups.at(origin.group, now_ns_);
  counts.freed += bytes;
  if (!whole) return;
  ++counts.frees;
  const std::uint64_t lived = now_ns_ > began_ns ? now_ns_ - began_ns : 0;
  const auto octave = static_cast<std::uint16_t>(lived == 0 ? 0 : std::bit_width(lived) - 1);
  const auto allocator = static_cast<std::uint16_t>(origin.allocator);
  TrafficCounts& of_lifetime =
      sums_->lifetimes.at(lifetimes_.id_of({origin.call_site.value, allocator, octave}).first, now_ns_);
  ++of_lifetime.frees;
  of_lifetime.freed += bytes;
  TrafficCounts& of_cpus = sums_->cpus.at(cpus_.id_of({allocator, began_cpu, cpu_}).first, now_ns_);
  ++of_cpus.frees;
  of_cpus.freed += bytes;
}

void TrafficLog::ended(std::uint32_t group, std::uint64_t bytes, std::uint64_t began_ns) {
  sums_->lives.add(group, bytes, began_ns, now_ns_);
}

TrafficOverTime TrafficLog::finish(std::uint64_t end_ns) {
  TrafficOverTime traffic;
  if (!sums_) return traffic;
  for (BucketedSums* const sums : {&sums_->groups, &sums_->sizes, &sums_->lifetimes, &sums_->cpus}) sums->end(end_ns);
  sums_->lives.end(end_ns);
  const TimeBuckets& clock = sums_->groups.clock();
  traffic.axis = {clock.start_ns(), clock.end_ns(), clock.width_ns(), clock.count()};
  const std::uint32_t shift =
      std::max({clock.shift(), sums_->sizes.shift(), sums_->lifetimes.shift(), sums_->cpus.shift()});
  traffic.coarse = 1u << (shift - clock.shift());
  for (const Traffic& entry : sums_->sizes.take(shift)) {
    const SizeKey& key = sizes_[entry.id];
    traffic.sizes.push_back({key.call_site, key.requested, key.allocated, entry.bucket, entry.counts.allocations});
  }
  for (const Traffic& entry : sums_->lifetimes.take(shift)) {
    const LifetimeKey& key = lifetimes_[entry.id];
    traffic.lifetimes.push_back({key.call_site, static_cast<Allocator>(key.allocator), key.octave, entry.bucket,
                                 entry.counts.frees, entry.counts.freed});
  }
  for (const Traffic& entry : sums_->cpus.take(shift)) {
    const CpuKey& key = cpus_[entry.id];
    traffic.cpus.push_back({static_cast<Allocator>(key.allocator), key.from, key.to, entry.bucket, entry.counts.frees,
                            entry.counts.freed});
  }
  traffic.lives_coarse = 1u << (std::max(clock.shift(), sums_->lives.shift()) - clock.shift());
  return traffic;
}

std::vector<SharedTraffic> TrafficLog::of_groups(std::size_t groups) {
  std::vector<SharedTraffic> of_groups(groups);
  if (!sums_) return of_groups;
  const std::vector<Traffic> all = sums_->groups.take(sums_->groups.shift());
  const std::vector<GroupLife> lives = sums_->lives.take(std::max(sums_->groups.shift(), sums_->lives.shift()));
  auto life = lives.begin();
  for (auto first = all.begin(); first != all.end();) {
    const std::uint32_t group = first->id;
    const auto last = std::find_if(first, all.end(), [&](const Traffic& entry) { return entry.id != group; });
    GroupTraffic traffic{{first, last}, {}};
    for (; life != lives.end() && life->group <= group; ++life)
      if (life->group == group) traffic.lives.push_back(life->life);
    of_groups[group] = std::make_shared<const GroupTraffic>(std::move(traffic));
    first = last;
  }
  return of_groups;
}

}  // namespace kmt
