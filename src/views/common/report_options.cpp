// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/common/report_options.hpp"

#include <algorithm>

namespace kmt {

const Column<GroupRow>& sort_column(const ReportOptions& options, const std::vector<GroupRow>& rows) {
  const bool has_values = options.sort != nullptr && std::any_of(rows.begin(), rows.end(), [&](const GroupRow& row) {
                            return !std::holds_alternative<std::monostate>(options.sort->get(row));
                          });
  return has_values ? *options.sort : *find_group_column("allocated");
}

std::size_t shown_rows(const ReportOptions& options, std::size_t total) {
  return options.limit == 0 ? total : std::min(options.limit, total);
}

}  // namespace kmt
