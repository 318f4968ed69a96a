// SPDX-License-Identifier: GPL-2.0-or-later
// Any bytes as a trace: everything that reads it at once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "analysis/check.hpp"
#include "analysis/leaks.hpp"
#include "analysis/pages.hpp"
#include "analysis/report.hpp"
#include "analysis/timeline.hpp"
#include "base/error.hpp"
#include "formats/registry.hpp"
#include "symbols/kallsyms.hpp"

namespace kmt {

inline void read_as_a_trace(const std::uint8_t* data, std::size_t size) {
  try {
    const auto source = open_trace(TraceFile{"fuzz", {data, size}, nullptr});
    const Kallsyms symbols(source->info().kallsyms);
    // All that an event can be grouped by is asked of it, with what comes of a lifetime.
    using enum GroupKey;
    ReportAnalysis report(source->info(), symbols, {{}, {call_site, cache, gfp, lifetime}, {}});
    ReportAnalysis by_task(source->info(), symbols, {{}, {stack, process, migrate_type, requested_size}, {}});
    ReportRequest with_history;
    with_history.by = {call_site, cache, order};
    with_history.history = true;
    ReportAnalysis over_time(source->info(), symbols, with_history);
    PagesAnalysis pages(source->info(), source->info(), symbols, {});
    CheckAnalysis check(source->info());
    for (EventBatch batch; source->read(batch);) {
      report.cache_names().learn(batch, source->info());
      report.add(batch);
      by_task.add(batch);
      over_time.add(batch);
      pages.add(batch);
      check.add(batch);
    }
    report.finish();
    by_task.finish();
    const ReportResult grown = over_time.finish();
    (void)leaks_of(grown, 1000);
    (void)timeline_of(grown, {});
    pages.finish();
    check.finish();
  } catch (const Error&) {
    // says what is wrong with the file
  }
}

}  // namespace kmt
