// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/calls/decoder.hpp"

#include "trace/calls/records.hpp"

namespace kmt {

CallDecoder::CallDecoder(const TraceInfo& info, const CallSignatures* signatures)
    : info_(info),
      signatures_(signatures),
      abi_{info.machine.byte_order, info.machine.word_bits, info.machine.arch, &info.tables.gfp_flags} {}

const CallSignature* CallDecoder::signature(std::uint32_t function, const std::string& name) {
  if (signatures_ == nullptr) return nullptr;
  if (function >= functions_.size()) functions_.resize(function + 1);
  std::unique_ptr<std::optional<CallSignature>>& known = functions_[function];
  if (!known)
    known = std::make_unique<std::optional<CallSignature>>(signatures_->signature(name.substr(0, name.find(" ["))));
  return *known ? &**known : nullptr;
}

std::optional<CallValues> CallDecoder::arguments(const CallSignature* signature, const CallEvent& entry) const {
  if (signature == nullptr || entry.record == 0) return std::nullopt;
  const CallRecord record = info_.calls.records->at(entry.record);
  return call_values(*signature, abi_, record.registers, record.values);
}

void CallDecoder::add_late_values(const CallSignature* signature, const CallEvent& exit,
                                  std::optional<CallValues>& arguments) const {
  if (exit.record == 0 || signature == nullptr || !arguments) return;
  kmt::add_late_values(*arguments, *signature, abi_, info_.calls.records->at(exit.record).values);
}

std::optional<CallValue> CallDecoder::result(const CallSignature* signature, const CallEvent& exit) const {
  if (signature == nullptr || !exit.has(CallFlags::kReturnValue)) return std::nullopt;
  return result_value(signature->result, abi_, exit.return_value);
}

void CallDecoder::give_back(const CallEvent& event) const {
  if (event.record != 0) info_.calls.records->give_back(event.record);
}

}  // namespace kmt
