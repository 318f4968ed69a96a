// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/heap_profile.hpp"

#include <algorithm>
#include <array>

namespace kmt {

namespace {

constexpr std::array<HeapKeyInfo, 6> kKeys = {{{HeapKey::call_site, "call-site", "Call site"},
                                               {HeapKey::caller, "caller", "Caller"},
                                               {HeapKey::stack, "stack", "Stack"},
                                               {HeapKey::process, "process", "Process"},
                                               {HeapKey::cache, "cache", "Cache"},
                                               {HeapKey::cgroup, "cgroup", "Cgroup"}}};

}  // namespace

std::span<const HeapKeyInfo> heap_keys() { return kKeys; }

const HeapKeyInfo& info_of(HeapKey key) { return *std::ranges::find(kKeys, key, &HeapKeyInfo::key); }

}  // namespace kmt
