// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/report/stalls.hpp"

#include <algorithm>
#include <utility>

#include "analysis/stalls/stalls.hpp"
#include "cli/input/damage_note.hpp"
#include "cli/input/reading.hpp"
#include "cli/support/interrupt.hpp"
#include "cli/support/output.hpp"
#include "views/json/pages.hpp"
#include "views/text/stalls.hpp"

namespace kmt {

int report_stalls(const AnalyseOptions& options, ReportRequest request, std::size_t limit,
                  const ResultOptions& result_options) {
  PagesOptions view;
  view.limit = limit;
  view.filtered = !request.filter.selects_all();
  const bool asks_for_cgroups = std::ranges::find(request.by, GroupKey::cgroup) != request.by.end();
  OpenedTrace trace(options, {}, &request);
  StallsAnalysis analysis(trace.info(), trace.names(), std::move(request), limit);
  CacheNames* const caches = &analysis.cache_names();
  const bool complete =
      trace.read_ahead({&caches, 1}) &&
      read_trace(
          trace.source(), [&](const EventBatch& batch) { analysis.add(batch); }, options.trace.progress);
  StallsResult result = analysis.finish(complete);
  result.findings.merge(trace.symbols().findings());
  trace.say_lack_of_calls();
  if (asks_for_cgroups) say_lack_of_cgroups(trace.info());
  print_result(result_options.json ? json_stalls(result, view)
                                   : text_stalls(result, view, stdout_style(result_options.style)));
  return complete ? 0 : kInterruptedExitCode;
}

}  // namespace kmt
