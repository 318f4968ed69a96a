// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/report_options.hpp"

#include <algorithm>

namespace kmt {

const Column<CallSiteRow>& sort_column(const ReportOptions& options) {
  return options.sort != nullptr ? *options.sort : *find_call_site_column("allocated");
}

const Column<CallSiteRow>& percpu_sort_column(const ReportOptions& options) {
  const Column<CallSiteRow>* const same = find_column(percpu_call_site_columns(), sort_column(options).key);
  return same != nullptr ? *same : *find_column(percpu_call_site_columns(), "allocated");
}

std::size_t shown_rows(const ReportOptions& options, std::size_t total) {
  return options.limit == 0 ? total : std::min(options.limit, total);
}

}  // namespace kmt
