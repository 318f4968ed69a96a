// SPDX-License-Identifier: GPL-2.0-or-later
// A limit on the memory that stays allocated at the end of a trace, for tests that must fail if a change leaks memory.
// Each allocator is compared with the limit separately, because vmalloc areas may count pages a second time.
#pragma once

#include <cstdint>
#include <vector>

#include "results/report/leaks.hpp"

namespace kmt {

enum class GateVerdict : std::uint8_t {
  passed,
  unclear,  // the limit is exceeded only together with memory whose frees may be missing, or that was not followed
  failed,
};
std::string_view id_of(GateVerdict verdict);

// Why the trace may lack allocations. Then it can show that the limit is exceeded, but not that it is kept.
enum class GateGap : std::uint8_t {
  none,
  no_events,    // the trace has no events, or none is selected
  lost_events,  // the recording lost events
  missing_part,
  interrupted,  // the trace was not read to its end
};
std::string_view id_of(GateGap gap);

struct GateCheck {
  Allocator allocator = Allocator::slab;
  std::uint64_t bytes = 0;          // certainly live, without memory whose growth is expected
  std::uint64_t missing_bytes = 0;  // live, but the trace may lack the frees
  // Live, but the kernel may have freed it on a path without an event. Not compared with the limit, because most of
  // this memory is free.
  std::uint64_t untraced_bytes = 0;
  GateVerdict verdict = GateVerdict::passed;
  // The rows of the allocator with the most certain bytes, largest first. They point into the LeaksResult.
  std::vector<const LeakRow*> largest;
};

struct GrowthGate {
  std::uint64_t limit = 0;  // in bytes
  GateGap gap = GateGap::none;
  std::uint64_t bytes_not_followed = 0;  // live bytes of the groups that were not followed, because there are too many
  std::vector<GateCheck> checks;
  GateVerdict verdict() const;
};

// The result must outlive the gate.
GrowthGate gate_of(const LeaksResult& result, std::uint64_t limit);

}  // namespace kmt
