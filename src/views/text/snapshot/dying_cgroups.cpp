// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/snapshot/dying_cgroups.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "base/text.hpp"
#include "views/text/lines.hpp"
#include "views/text/table.hpp"

namespace kmt {

std::string text_dying_cgroups(const std::vector<DyingCgroups>& all, const PodNames& pods,
                               const SnapshotOptions& options, const TextStyle& style) {
  if (all.empty()) return {};
  std::uint64_t count = 0;
  for (const DyingCgroups& dying : all) count += dying.count;
  Table table{{{"Removed below", true},
               {"Removed"},
               {"Existing", false, 3},
               {"Kernel"},
               {"Slab", false, 1},
               {"Percpu", false, 2},
               {"File"},
               {"Anonymous", false, 2}},
              {}};
  const auto rows = largest(all, options, std::mem_fn(&DyingCgroups::count));
  const auto workload = [&pods](const DyingCgroups& one) { return workload_name(one.below, pods); };
  const bool has_workloads =
      std::ranges::any_of(rows, [&](const DyingCgroups* one) { return !workload(*one).empty(); });
  if (has_workloads) table.columns.push_back({"Container", true, 2});
  for (const DyingCgroups* row : rows) {
    table.rows.push_back(
        {{ascii(row->below), say_count(row->count, style), row->existing ? say_count(*row->existing, style) : "-",
          bytes_or_unknown(row->kernel_bytes, style), bytes_or_unknown(row->slab_bytes, style),
          bytes_or_unknown(row->percpu_bytes, style), bytes_or_unknown(row->file_bytes, style),
          bytes_or_unknown(row->anonymous_bytes, style)}});
    if (has_workloads) table.rows.back().cells.push_back(ascii(workload(*row)));
  }
  return counted_heading(
             fmt::format("Removed cgroups that still hold memory (dying cgroups, {} in all)", say_count(count, style)),
             rows.size(), all.size(), style) +
         to_text(table, style) +
         hanging("  ",
                 "Amounts are upper bounds, because they include the memory of the cgroup itself. Page cache and "
                 "objects such as dentries keep a removed cgroup until they are freed: "
                 "echo 3 > /proc/sys/vm/drop_caches frees both unless they are in use.",
                 style);
}

}  // namespace kmt
