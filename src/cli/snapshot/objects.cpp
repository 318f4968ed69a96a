// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/snapshot/objects.hpp"

#include "cli/input/reading.hpp"
#include "cli/support/interrupt.hpp"

namespace kmt {

std::optional<ObjectsReport> sample_caches(const std::vector<std::string>& names, const ObjectLimits& limits) {
  const InterruptGuard guard;
  ReadingProgress progress(true);
  ObjectsReport report = sample_objects(names, limits, [&](double searched) {
    if (searched < 1) progress.update("Searching slabs", searched);
    return !guard.interrupted();
  });
  if (guard.interrupted()) return std::nullopt;
  return report;
}

}  // namespace kmt
