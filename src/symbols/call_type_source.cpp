// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/call_type_source.hpp"

#include "base/error.hpp"
#include "trace/calls/recorded_functions.hpp"

namespace kmt {

CallTypeSource::CallTypeSource(const TraceInfo& info, const std::string& file) {
  const CallTypes& types = info.calls.types;
  if (!types.btf.empty()) {
    try {
      btf_.emplace(types.btf);
    } catch (const Error& error) {
      findings_.add({Imperfection::damaged_section, error.what()});
    }
  }
  of_file_ = !btf_ && !file.empty();
  if (of_file_) btf_.emplace(file);
  if (!btf_) return;
  if (!of_file_ && btf_->function_count() <= kMostRecordedFunctions) recorded_functions_ = btf_->functions();
  // The type IDs of recorded values belong to the BTF of the trace. They must not be used with the BTF of a file.
  static const std::vector<RecordedFunction> kNone;
  signatures_.emplace(*btf_, of_file_ ? kNone : types.functions, info.machine.word_bits, info.machine.arch);
}

}  // namespace kmt
