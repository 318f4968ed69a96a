// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/heap/profile.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace kmt {

namespace {

constexpr std::array<HeapKeyInfo, 9> kHeapProfileKeys = {{{HeapKey::call_site, "call-site", "Call site"},
                                                          {HeapKey::caller, "caller", "Caller"},
                                                          {HeapKey::stack, "stack", "Stack"},
                                                          {HeapKey::process, "process", "Process"},
                                                          {HeapKey::cache, "cache", "Cache"},
                                                          {HeapKey::cgroup, "cgroup", "Cgroup"},
                                                          {HeapKey::module, "module", "Module"},
                                                          {HeapKey::subsystem, "subsystem", "Subsystem"},
                                                          {HeapKey::directory, "directory", "Directory"}}};

}  // namespace

std::uint64_t rounded(double estimate) {
  // Limit for counts and bytes, nearly 2^63. A damaged file may contain larger numbers.
  constexpr double kMost = 9.2e18;
  return static_cast<std::uint64_t>(std::llround(std::clamp(estimate, 0.0, kMost)));
}

HeapLosses difference(const HeapLosses& from, HeapLosses to) {
  to.samples -= from.samples;
  to.ends -= from.ends;
  to.unfollowed -= from.unfollowed;
  to.no_stack -= from.no_stack;
  to.sites -= from.sites;
  to.site_bytes -= from.site_bytes;
  to.missed -= from.missed;
  to.missed_frees -= from.missed_frees;
  to.not_followed_processes -= from.not_followed_processes;
  return to;
}

std::span<const HeapKeyInfo> heap_keys() { return kHeapProfileKeys; }

const HeapKeyInfo& info_of(HeapKey key) { return *std::ranges::find(kHeapProfileKeys, key, &HeapKeyInfo::key); }

}  // namespace kmt
