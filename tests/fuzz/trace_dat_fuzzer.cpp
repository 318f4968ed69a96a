// SPDX-License-Identifier: GPL-2.0-or-later
// Any bytes as a trace, trace.dat or .kmt: reading, reporting and checking must not crash, hang or take memory out of
// proportion.
#include <cstddef>
#include <cstdint>

#include "analysis/check.hpp"
#include "analysis/report.hpp"
#include "base/error.hpp"
#include "formats/registry.hpp"
#include "symbols/kallsyms.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto source = kmt::open_trace(kmt::TraceFile{"fuzz", {data, size}, nullptr});
    kmt::ReportAnalysis report(source->info(), {});
    kmt::CheckAnalysis check(source->info());
    for (kmt::EventBatch batch; source->read(batch);) {
      report.add(batch);
      check.add(batch);
    }
    report.finish(kmt::Kallsyms(source->info().kallsyms));
    check.finish();
  } catch (const kmt::Error&) {
    // says what is wrong with the file
  }
  return 0;
}
