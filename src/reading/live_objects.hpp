// SPDX-License-Identifier: GPL-2.0-or-later
// Names what fills slab caches of the running machine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "reading/live_slabs.hpp"
#include "results/snapshot/object_kinds.hpp"
#include "snapshot/objects/kernel_reader.hpp"

namespace kmt {

struct ObjectLimits {
  std::uint64_t objects = 4000;        // objects to sample of each cache
  std::uint64_t bytes = 256ull << 20;  // bytes of the kernel's memory to read
  std::uint64_t list_steps = 200'000;  // links of lists to follow in each cache
};

// Samples the objects of slab caches. Reads the kernel's memory with `memory`, or from /proc/kcore if `memory` is null.
// Calls proceed(share of the page frames that were searched for slabs) often. If
// it returns false, the reading stops, and the result has what was read until then. Gives up CAP_SYS_RAWIO, which only
// the opening of /proc/kcore needs. Throws Error if the kernel's memory cannot be read, or if there is no such cache.
ObjectsReport sample_objects(const std::vector<std::string>& caches, const ObjectLimits& limits,
                             const std::function<bool(double)>& proceed,
                             std::unique_ptr<KernelReader> memory = nullptr);

}  // namespace kmt
