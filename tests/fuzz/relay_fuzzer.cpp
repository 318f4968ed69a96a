// SPDX-License-Identifier: GPL-2.0-or-later
// Treats any bytes as relay files. The first byte selects a layout, or automatic detection of the layout. The steps of
// the walker must cover all bytes without a gap. The bytes must have room for the number of events, and each reader
// must terminate.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.hpp"
#include "formats/relay/layout.hpp"
#include "formats/relay/walker.hpp"
#include "read_trace.hpp"
#include "support/checked_sink.hpp"

namespace {

void walk(kmt::Bytes bytes, const kmt::relay::Abi& abi) {
  kmt::relay::Walker walker(bytes, abi);
  std::uint64_t end = 0;
  for (kmt::relay::Step step; walker.next(step);) {
    if (step.offset != end || step.bytes == 0 || step.bytes > bytes.size() - end) std::abort();
    end += step.bytes;
  }
  if (end != bytes.size()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const auto abis = kmt::relay::all_abis();
  const kmt::Bytes bytes(data + 1, size - 1);
  kmt::OpenOptions options;
  if (data[0] < abis.size()) {
    options.abi = name_of(abis[data[0]]);
    walk(bytes, abis[data[0]]);
  }
  try {
    const kmt::TraceFile file{"cpu0.out", bytes, nullptr};
    const std::uint64_t events = kmt::read_as_a_trace(file, options);
    if (events > size / 24) std::abort();  // the shortest record has 24 bytes
    kmt::Findings findings;
    kmt::test::CheckedSink sink;
    if (options.abi.empty()) {
      kmt::read_records(file, {}, sink, findings);
      sink.expect_ended();
    }
    if (sink.records > events) std::abort();
  } catch (const kmt::Error&) {
    // expected: the file is damaged
  }
  return 0;
}
