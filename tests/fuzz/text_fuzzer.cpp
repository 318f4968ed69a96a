// SPDX-License-Identifier: GPL-2.0-or-later
// Treats any text as a histogram or as a trace. Reading, reporting, checking and converting must not crash, hang or use
// excessive memory. Reading a trace as events and as records must return the same number of events.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.hpp"
#include "formats/text/histogram.hpp"
#include "formats/text/reader.hpp"
#include "formats/text/wrapped.hpp"
#include "read_trace.hpp"
#include "support/checked_sink.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  bool is_wrapped = false;
  try {
    is_wrapped = kmt::text::unwrap({data, size}).has_value();
  } catch (const kmt::Error&) {
    // expected: a web page or JSON without a trace
  }
  const kmt::TraceFile file{"fuzz", {data, size}, nullptr};
  if (kmt::text::is_histogram(file.bytes))
    for (const kmt::Histogram& histogram : kmt::text::read_histograms(file.bytes))
      if (kmt::sums_of(histogram).size() != histogram.values.size()) std::abort();
  if (!kmt::text::is_text(file.bytes)) return 0;
  try {
    const std::uint64_t events = kmt::read_as_a_trace(file);
    if (is_wrapped) return 0;  // the text of the trace is inside these bytes
    kmt::Findings findings;
    kmt::test::CheckedSink sink;
    kmt::text::read_records(file, sink, findings);
    sink.expect_ended();
    if (sink.records != events) std::abort();
  } catch (const kmt::Error&) {
    // expected: the file is damaged
  }
  return 0;
}
