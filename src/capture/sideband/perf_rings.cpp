// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/sideband/perf_rings.hpp"

#include <fmt/format.h>

namespace kmt {

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

std::uint64_t PerfRings::lost() const {
  std::uint64_t lost = lost_;
  for (const auto& [cpu, ring] : rings_) lost += ring->lost();
  return lost;
}

std::vector<std::string> PerfRings::gaps() const {
  if (const std::string why = why_none(); !why.empty()) return {"all: " + why};
  std::vector<std::string> gaps;
  gaps.reserve(gaps_.size());
  for (const auto& [cpu, why] : gaps_) gaps.push_back(fmt::format("all of CPU {}: {}", cpu, why));
  return gaps;
}

std::uint64_t PerfRings::bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [cpu, ring] : rings_) bytes += ring->bytes();
  return bytes;
}

}  // namespace kmt
