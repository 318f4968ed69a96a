// SPDX-License-Identifier: GPL-2.0-or-later
// Names what fills slab caches of the running machine, for `snapshot --objects`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results/snapshot/object_kinds.hpp"

namespace kmt {

// The list of all caches and the descriptors of some pages fit into this.
constexpr std::uint64_t kLeastBytesToRead = 1 << 20;

struct ObjectLimits {
  std::uint64_t objects = 4000;        // objects to sample of each cache
  std::uint64_t bytes = 256ull << 20;  // bytes of the kernel's memory to read
};

// Samples the caches. Shows a progress line. Returns nothing if Ctrl+C stopped the reading. Throws Error if the
// kernel's memory cannot be read, or if there is no such cache.
std::optional<ObjectsReport> sample_caches(const std::vector<std::string>& names, const ObjectLimits& limits);

}  // namespace kmt
