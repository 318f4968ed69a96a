// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/sideband/perf_rings.hpp"

#include <utility>

#include <fmt/format.h>

namespace kmt {

PerfRings::PerfRings(const perf_event_attr& attributes, const std::vector<unsigned>& cpus, std::string clock,
                     std::size_t ring_bytes)
    : attributes_(attributes), clock_(std::move(clock)), ring_bytes_(ring_bytes) {
  for (const unsigned cpu : cpus) open(cpu);
}

std::vector<unsigned> PerfRings::cpus_changed(const std::vector<CpuChange>& changes) {
  std::vector<unsigned> came;
  for (const auto& [cpu, online] : changes) {
    close(cpu);
    if (!online) continue;
    open(cpu);
    if (rings_.contains(cpu)) came.push_back(cpu);
  }
  return came;
}

void PerfRings::open(unsigned cpu) {
  std::string why_not;
  failed_.erase(cpu);
  if (auto ring = PerfEvents::open(attributes_, cpu, clock_, ring_bytes_, why_not))
    rings_[cpu] = std::move(ring);
  else if (!why_not.empty())
    failed_[cpu] = gaps_[cpu] = why_not;
}

void PerfRings::close(unsigned cpu) {
  failed_.erase(cpu);
  const auto ring = rings_.find(cpu);
  if (ring == rings_.end()) return;
  lost_ += ring->second->lost();
  rings_.erase(ring);
}

std::vector<std::string> PerfRings::losses(std::string_view records, std::uint64_t omitted) const {
  std::uint64_t lost = lost_ + omitted;
  for (const auto& [cpu, ring] : rings_) lost += ring->lost();
  std::vector<std::string> losses;
  if (lost > 0) losses.push_back(fmt::format("{} {}", lost, records));
  if (!empty())
    for (const auto& [cpu, why] : gaps_) losses.push_back(fmt::format("all of CPU {}: {}", cpu, why));
  return losses;
}

std::uint64_t PerfRings::bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [cpu, ring] : rings_) bytes += ring->bytes();
  return bytes;
}

}  // namespace kmt
