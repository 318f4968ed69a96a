// SPDX-License-Identifier: GPL-2.0-or-later
// Converts the entries that BPF programs write for calls (calls.h) to records of the types call_entry and call_exit.
// docs/formats/kmt.md, "Types of calls", describes these records.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/bpf/programs/calls.h"
#include "capture/bpf/programs/records.h"
#include "capture/recorded_calls.hpp"
#include "trace/kernel_description.hpp"

namespace kmt {

class CallLayout {
 public:
  // `others` are the formats of all other events of the trace. The calls get event numbers that these formats do not
  // use. Throws Error.
  CallLayout(const std::vector<TracedFunction>& functions, const std::vector<FormatText>& others);

  std::vector<FormatText> formats() const;

  // Converts an entry KMT_ENTRY_CALL or KMT_ENTRY_RETURN to a record and returns its size. `to` must have room for
  // kMostRecordBytes. Throws Error if the entry is invalid.
  std::size_t build_record(const kmt_entry& entry, const std::uint64_t* words, std::uint8_t* to) const;

 private:
  std::vector<std::uint64_t> addresses_;  // addresses of the functions, indexed by function number
  std::uint16_t entry_id_;
  std::uint16_t exit_id_;
};

// Returns the steps by which a BPF program reads this value. Throws Error if an offset in the path is too large.
kmt_value table_entry_of(const TracedFunction& function, const ValuePath& path);

}  // namespace kmt
