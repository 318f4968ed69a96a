// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/snapshot/owners.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "results/snapshot/owners.hpp"
#include "views/text/lines.hpp"
#include "views/text/table.hpp"

namespace kmt {

std::string text_owners(const SnapshotResult& result, const SnapshotOptions& options, const TextStyle& style) {
  const std::vector<MemoryOwner>& owners = result.memory.owners;
  if (owners.empty()) return {};
  const auto rows = shown_owners(result, options);
  Table table{{{"Kind", true, 1},
               {"Owner", true},
               {"Bytes"},
               {"Number", false, 3},
               {"Exactness", true, 2},
               {"Counted in", true}},
              {}};
  for (const MemoryOwner* owner : rows)
    table.rows.push_back({{std::string(describe(owner->kind).label), ascii(owner->name), say_bytes(owner->bytes, style),
                           say_count(owner->count, style), std::string(describe(owner->exactness).label),
                           std::string(describe(owner->place).label)}});
  return counted_heading("Owners of memory, and the counters that contain it", rows.size(), owners.size(), style) +
         to_text(table, style) +
         hanging(
             "  ",
             fmt::format("The owners name {} of the unaccounted memory. The files that could be read do not name the "
                         "owner of the rest. `kmemtrace snapshot --pages` groups it by order, flags and cgroup.",
                         say_bytes(unaccounted_bytes(owners), style)),
             style);
}

}  // namespace kmt
