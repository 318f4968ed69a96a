// SPDX-License-Identifier: GPL-2.0-or-later
// Any bytes as a perf.data: reading, reporting, checking and converting must not crash, hang or take memory out of
// proportion.
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/error.hpp"
#include "formats/perfdata/file.hpp"
#include "formats/perfdata/records.hpp"
#include "read_trace.hpp"

namespace {

class NoSink : public kmt::RecordSink {
 public:
  void describe(const kmt::TraceDescription&) override {}
  void begin_stream(const kmt::RecordStream&) override {}
  void record(std::uint64_t, kmt::Bytes) override {}
  void lost(std::optional<std::uint64_t>) override {}
  void end_stream() override {}
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (!kmt::perfdata::is_perf_data({data, size})) return -1;  // another fuzzer's
  kmt::read_as_a_trace(data, size);
  try {
    NoSink sink;
    kmt::Findings findings;
    kmt::perfdata::read_records(kmt::TraceFile{"fuzz", {data, size}, nullptr}, sink, findings);
  } catch (const kmt::Error&) {
    // says what is wrong with the file
  }
  return 0;
}
