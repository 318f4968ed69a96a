// SPDX-License-Identifier: GPL-2.0-or-later
// Provides the signatures of the functions in a trace. The types are in the trace or in a file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "symbols/call_signatures.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

class CallTypeSource {
 public:
  // `info` must outlive this object. `file` is the path that the user names for a trace without types, or empty. Throws
  // Error if the file is needed but cannot be read. If the types in the trace are damaged, there are no signatures, and
  // findings() reports the damage.
  CallTypeSource(const TraceInfo& info, const std::string& file);

  // Returns null if no types are known.
  const CallSignatures* signatures() const { return signatures_ ? &*signatures_ : nullptr; }
  bool is_of_file() const { return of_file_; }
  // Returns the sorted names of the recorded functions, if the trace lists them. The trace has types for these
  // functions only.
  const std::vector<std::string>& recorded_functions() const { return recorded_functions_; }
  const Findings& findings() const { return findings_; }

 private:
  bool of_file_ = false;
  std::optional<Btf> btf_;
  std::optional<BtfSignatures> signatures_;
  std::vector<std::string> recorded_functions_;
  Findings findings_;
};

}  // namespace kmt
