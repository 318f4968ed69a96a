// SPDX-License-Identifier: GPL-2.0-or-later
// Treats any bytes as a trace.dat or .kmt file. Reading, reporting, checking, anonymising and repairing must not crash,
// hang or use excessive memory. A repaired file must need no further repair.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "anonymise/records.hpp"
#include "base/error.hpp"
#include "formats/kmt/file.hpp"
#include "formats/kmt/repair.hpp"
#include "read_trace.hpp"
#include "support/checked_sink.hpp"

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
    // expected: no part of the file is intact
  }
}

void anonymise(const kmt::TraceFile& file) {
  kmt::test::CheckedSink sink;
  kmt::Findings findings;
  kmt::RecordAnonymiser anonymiser({}, sink);
  kmt::read_records(file, {}, anonymiser, findings);
  sink.expect_ended();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const kmt::TraceFile file{"fuzz", {data, size}, nullptr};
  try {
    kmt::read_as_a_trace(file);
    anonymise(file);
  } catch (const kmt::Error&) {
    // expected: the file is damaged
  }
  repair({data, size});
  return 0;
}
