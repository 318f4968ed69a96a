// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a trace with all analyses, for the fuzzers. Converters write to the sink of support/checked_sink.hpp.
#pragma once

#include <cstdint>

#include "analysis/calls/graph.hpp"
#include "analysis/report/check.hpp"
#include "analysis/report/event_stream.hpp"
#include "analysis/report/leaks.hpp"
#include "analysis/report/pages.hpp"
#include "analysis/report/report.hpp"
#include "analysis/report/timeline.hpp"
#include "base/error.hpp"
#include "formats/registry.hpp"
#include "symbols/call_type_source.hpp"
#include "symbols/kallsyms.hpp"
#include "views/json/graph.hpp"

namespace kmt {

// Reads all events and returns their number. Throws Error if reading fails.
inline std::uint64_t read_events(Source& source) {
  std::uint64_t events = 0;
  const Kallsyms symbols(source.info().code.kallsyms);
  // The reports group events by many of the keys, including those that depend on lifetimes.
  using enum GroupKey;
  ReportAnalysis report(source.info(), symbols, {{}, {call_site, cache, gfp, lifetime}, {}});
  ReportAnalysis by_task(source.info(), symbols, {{}, {stack, process, migrate_type, requested_size}, {}});
  ReportRequest with_history;
  with_history.by = {call_site, cache, order};
  with_history.history = true;
  ReportAnalysis over_time(source.info(), symbols, with_history);
  PagesAnalysis pages(source.info(), source.info().tasks, symbols, {});
  CheckAnalysis check(source.info());
  const CallTypeSource types(source.info(), "");
  CallGraphRequest calls;
  calls.arguments = true;
  calls.signatures = types.signatures();
  CallGraph graph(source.info(), symbols, calls);
  const ReportRequest all;
  EventStream stream(source.info(), symbols, all, graph);
  for (EventBatch batch; source.read(batch);) {
    report.cache_names().learn(batch, source.info());
    report.add(batch);
    by_task.add(batch);
    over_time.add(batch);
    pages.add(batch);
    check.add(batch);
    events += batch.size();
    stream.add(batch);
  }
  stream.finish(true);
  (void)json_graph(graph.take(), {&graph_function_columns().front(), 0, true, true});
  report.finish();
  by_task.finish();
  const ReportResult grown = over_time.finish();
  (void)leaks_of(grown, 1000);
  (void)timeline_of(grown, {});
  pages.finish();
  check.finish();
  return events;
}

// Opens the file, reads all events and returns their number. Throws Error if the file is damaged.
inline std::uint64_t read_as_a_trace(const TraceFile& file, const OpenOptions& options = {}) {
  OpenOptions opening = options;
  opening.call_records = true;
  return read_events(*open_trace(file, opening));
}

}  // namespace kmt
