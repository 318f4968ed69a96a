// SPDX-License-Identifier: GPL-2.0-or-later
// Decodes arguments and results of recorded calls with the signatures of their functions.
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
  // Both arguments must outlive the decoder. If `signatures` is null, the decoded values have no types.
  CallDecoder(const TraceInfo& info, const CallSignatures* signatures);

  // Returns a function's signature. `function` is a number, starting at 0. `name` ("vfs_read", "ext4_map_blocks
  // [ext4]") is used only in the first call for each function.
  const CallSignature* signature(std::uint32_t function, const std::string& name);

  // Returns the arguments in a call_entry event. Empty if nothing was recorded or the types are unknown.
  std::optional<CallValues> arguments(const CallSignature* signature, const CallEvent& entry) const;
  // Adds those arguments that could be read only at the end of the call. They are in the call_exit event.
  void add_late_values(const CallSignature* signature, const CallEvent& exit,
                       std::optional<CallValues>& arguments) const;
  // Returns the result in a call_exit event. Empty if the function returns nothing, its types are unknown, or the
  // result was not recorded.
  std::optional<CallValue> result(const CallSignature* signature, const CallEvent& exit) const;
  // Frees the memory of the event's recorded values. The event must not be decoded afterwards.
  void give_back(const CallEvent& event) const;

 private:
  const TraceInfo& info_;
  const CallSignatures* signatures_;
  CallAbi abi_;
  // Index: function number; null: signature not requested yet.
  std::vector<std::unique_ptr<std::optional<CallSignature>>> functions_;
};

}  // namespace kmt
