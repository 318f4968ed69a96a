// SPDX-License-Identifier: GPL-2.0-or-later
// Any bytes as a trace, trace.dat or .kmt: reading, reporting, checking and repairing must not crash, hang or take
// memory out of proportion. What was repaired needs no repair.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/check.hpp"
#include "analysis/leaks.hpp"
#include "analysis/pages.hpp"
#include "analysis/report.hpp"
#include "analysis/timeline.hpp"
#include "base/error.hpp"
#include "formats/kmt/file.hpp"
#include "formats/kmt/repair.hpp"
#include "formats/registry.hpp"
#include "symbols/kallsyms.hpp"

namespace {

void repair(kmt::Bytes file) {
  if (!kmt::kmt_format::is_kmt(file)) return;
  try {
    const kmt::kmt_format::Repair plan = kmt::kmt_format::plan_repair(file);
    std::vector<std::uint8_t> repaired;
    for (const auto& [offset, bytes] : plan.kept) {
      const kmt::Bytes part = file.subspan(offset, bytes);
      repaired.insert(repaired.end(), part.begin(), part.end());
    }
    repaired.insert(repaired.end(), plan.end.begin(), plan.end.end());
    if (kmt::kmt_format::plan_repair(repaired).needed) __builtin_trap();
  } catch (const kmt::Error&) {
    // nothing in it is intact
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto source = kmt::open_trace(kmt::TraceFile{"fuzz", {data, size}, nullptr});
    const kmt::Kallsyms symbols(source->info().kallsyms);
    // All that an event can be grouped by is asked of it, with what comes of a lifetime.
    using enum kmt::GroupKey;
    kmt::ReportAnalysis report(source->info(), symbols, {{}, {call_site, cache, gfp, lifetime}, {}});
    kmt::ReportAnalysis by_task(source->info(), symbols, {{}, {stack, process, migrate_type, requested_size}, {}});
    kmt::ReportRequest with_history;
    with_history.by = {call_site, cache, order};
    with_history.history = true;
    kmt::ReportAnalysis over_time(source->info(), symbols, with_history);
    kmt::PagesAnalysis pages(source->info(), source->info(), symbols, {});
    kmt::CheckAnalysis check(source->info());
    for (kmt::EventBatch batch; source->read(batch);) {
      report.cache_names().learn(batch, source->info());
      report.add(batch);
      by_task.add(batch);
      over_time.add(batch);
      pages.add(batch);
      check.add(batch);
    }
    report.finish();
    by_task.finish();
    const kmt::ReportResult grown = over_time.finish();
    (void)kmt::leaks_of(grown, 1000);
    (void)kmt::timeline_of(grown, {});
    pages.finish();
    check.finish();
  } catch (const kmt::Error&) {
    // says what is wrong with the file
  }
  repair({data, size});
  return 0;
}
