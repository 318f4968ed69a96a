// SPDX-License-Identifier: GPL-2.0-or-later
// Arguments and results of recorded calls, by the signatures of their functions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trace/calls/event.hpp"
#include "trace/calls/signature.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

class CallDecoder {
 public:
  // Both are borrowed; no signatures: nothing is typed.
  CallDecoder(const TraceInfo& info, const CallSignatures* signatures);

  // Functions are numbered from 0, and named when they are asked for first: "vfs_read", "ext4_map_blocks [ext4]".
  const CallSignature* signature(std::uint32_t function, const std::string& name);

  // Returns the arguments in an event call_entry; empty if nothing was recorded or the types are unknown.
  std::optional<CallValues> arguments(const CallSignature* signature, const CallEvent& entry) const;
  // Adds the arguments that were read only at the end, in an event call_exit.
  void add_late_values(const CallSignature* signature, const CallEvent& exit,
                       std::optional<CallValues>& arguments) const;
  // Returns the result in an event call_exit; also empty if the function returns nothing.
  std::optional<CallValue> result(const CallSignature* signature, const CallEvent& exit) const;
  // The event will not be asked for again.
  void give_back(const CallEvent& event) const;

 private:
  const TraceInfo& info_;
  const CallSignatures* signatures_;
  CallAbi abi_;
  std::vector<std::unique_ptr<std::optional<CallSignature>>> functions_;  // null: not asked for yet
};

}  // namespace kmt
