// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/snapshot/objects.hpp"

#include "cli/input/reading.hpp"
#include "cli/support/interrupt.hpp"
#include "cli/support/kernel_memory.hpp"

namespace kmt {

std::optional<ObjectsReport> sample_caches(const std::vector<std::string>& names, const ObjectLimits& limits) {
  const InterruptGuard guard;
  ReadingProgress progress(true);
  const auto proceed = [&](double searched) {
    if (searched < 1) progress.update("Searching slabs", searched);
    return !guard.interrupted();
  };
  ObjectsReport report = sample_objects(names, limits, proceed, memory_without_kcore());
  if (guard.interrupted()) return std::nullopt;
  return report;
}

}  // namespace kmt
