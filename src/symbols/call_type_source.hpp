// SPDX-License-Identifier: GPL-2.0-or-later
// Signatures of a trace's functions: by the types that it holds, or those of a file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "symbols/call_signatures.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

class CallTypeSource {
 public:
  // The info must outlive this. `file`: what the user names for a trace without types, empty: nothing. Throws Error
  // where it has to be read and cannot; types of the trace that are damaged become a finding, and are none.
  CallTypeSource(const TraceInfo& info, const std::string& file);

  const CallSignatures* signatures() const {
    return signatures_ ? &*signatures_ : nullptr;
  }  // null: there are no types
  bool is_of_file() const { return of_file_; }
  // The recorded functions, if the trace names them: it holds the types of these only. Sorted.
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
