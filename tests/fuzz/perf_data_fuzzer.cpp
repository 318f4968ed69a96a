// SPDX-License-Identifier: GPL-2.0-or-later
// Treats any bytes as a perf.data file. Reading, reporting, checking and converting must not crash, hang or use
// excessive memory.
#include <cstddef>
#include <cstdint>

#include "base/error.hpp"
#include "formats/perfdata/file.hpp"
#include "formats/perfdata/records.hpp"
#include "read_trace.hpp"
#include "support/checked_sink.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (!kmt::perfdata::is_perf_data({data, size})) return -1;  // other fuzzers test such input
  const kmt::TraceFile file{"fuzz", {data, size}, nullptr};
  try {
    kmt::read_as_a_trace(file);
  } catch (const kmt::Error&) {
    // expected: the file is damaged
  }
  try {
    kmt::test::CheckedSink sink;
    kmt::Findings findings;
    kmt::perfdata::read_records(file, sink, findings);
    sink.expect_ended();
  } catch (const kmt::Error&) {
    // expected: the file is damaged
  }
  return 0;
}
