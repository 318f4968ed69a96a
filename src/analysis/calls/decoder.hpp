// SPDX-License-Identifier: GPL-2.0-or-later
// Arguments and results of recorded calls, by the signatures of their functions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trace/calls/signature.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

class CallDecoder {
 public:
  // Both are borrowed; no signatures: nothing is typed.
  CallDecoder(const TraceInfo& info, const CallSignatures* signatures);

  // Functions are numbered from 0, and named when they are asked for first: "vfs_read", "ext4_map_blocks [ext4]".
  const CallSignature* signature(std::uint32_t function, const std::string& name);

  // Of an event call_entry; empty where nothing was recorded, or the types are not known.
  std::optional<CallValues> arguments(const CallSignature* signature, const Event& entry) const;
  // Of an event call_exit: what was read only then is put among the arguments.
  void add_late_values(const CallSignature* signature, const Event& exit, std::optional<CallValues>& arguments) const;
  // Of an event call_exit with a return value; empty as well where the function returns nothing.
  std::optional<CallValue> result(const CallSignature* signature, const Event& exit) const;
  // The event, call_entry or call_exit, will not be asked for again.
  void give_back(const Event& event) const;

 private:
  const TraceInfo& info_;
  const CallSignatures* signatures_;
  CallAbi abi_;
  std::vector<std::unique_ptr<std::optional<CallSignature>>> functions_;  // null: not asked for yet
};

}  // namespace kmt
