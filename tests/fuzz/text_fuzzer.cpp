// SPDX-License-Identifier: GPL-2.0-or-later
// Any text as a trace: reading, reporting, checking and converting must not crash, hang or take memory out of
// proportion, and both ways of reading see the same events.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "analysis/check.hpp"
#include "analysis/report.hpp"
#include "base/error.hpp"
#include "formats/text/reader.hpp"
#include "symbols/kallsyms.hpp"

namespace {

class CountingSink : public kmt::RecordSink {
 public:
  void describe(const kmt::TraceDescription&) override {}
  void begin_stream(const kmt::RecordStream&) override {}
  void record(std::uint64_t, kmt::Bytes) override { ++records; }
  void lost(std::optional<std::uint64_t>) override {}
  void end_stream() override {}

  std::uint64_t records = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const kmt::TraceFile file{"fuzz", {data, size}, nullptr};
  if (!kmt::text::is_text(file.bytes)) return 0;
  try {
    const auto source = kmt::text::open(file, {});
    const kmt::Kallsyms symbols(source->info().kallsyms);
    using enum kmt::GroupKey;
    kmt::ReportAnalysis report(source->info(), symbols, {{}, {call_site, cache, gfp, lifetime}, {}});
    kmt::CheckAnalysis check(source->info());
    std::uint64_t events = 0;
    for (kmt::EventBatch batch; source->read(batch);) {
      report.add(batch);
      check.add(batch);
      events += batch.size();
    }
    report.finish();
    check.finish();
    kmt::Findings findings;
    CountingSink sink;
    kmt::text::read_records(file, sink, findings);
    if (sink.records != events) std::abort();
  } catch (const kmt::Error&) {
    // says what is wrong with the file
  }
  return 0;
}
