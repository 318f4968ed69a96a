// SPDX-License-Identifier: GPL-2.0-or-later
// How what BPF programs take of calls (calls.h) becomes records of the events call_entry and call_exit
// (docs/formats/kmt.md, "Types of calls").
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
  // `others`: all other events of the trace, whose numbers those of calls must not have. Throws Error.
  CallLayout(const std::vector<TracedFunction>& functions, const std::vector<FormatText>& others);

  std::vector<FormatText> formats() const;

  // Of an entry KMT_ENTRY_CALL or KMT_ENTRY_RETURN: the bytes that were written to `to`, which has room for
  // kMostRecordBytes. Throws Error for what no program writes.
  std::size_t build_record(const kmt_entry& entry, const std::uint64_t* words, std::uint8_t* to) const;

 private:
  std::vector<std::uint64_t> addresses_;  // of functions, by number
  std::uint16_t entry_id_;
  std::uint16_t exit_id_;
};

// How the programs read a value. Throws Error where it is too far away.
kmt_value table_entry_of(const TracedFunction& function, const ValuePath& path);

}  // namespace kmt
