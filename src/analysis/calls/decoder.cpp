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

std::optional<CallValues> CallDecoder::arguments(const CallSignature* signature, const Event& entry) const {
  if (signature == nullptr || call_record(entry) == 0) return std::nullopt;
  const CallRecord record = info_.calls.records->at(call_record(entry));
  return call_values(*signature, abi_, record.registers, record.values);
}

void CallDecoder::add_late_values(const CallSignature* signature, const Event& exit,
                                  std::optional<CallValues>& arguments) const {
  if (!info_.calls.records || late_record(exit) == 0 || signature == nullptr || !arguments) return;
  kmt::add_late_values(*arguments, *signature, abi_, info_.calls.records->at(late_record(exit)).values);
}

std::optional<CallValue> CallDecoder::result(const CallSignature* signature, const Event& exit) const {
  if (signature == nullptr || (exit.page_flags & CallFlags::kReturnValue) == 0) return std::nullopt;
  return result_value(signature->result, abi_, return_value(exit));
}

void CallDecoder::give_back(const Event& event) const {
  if (!info_.calls.records) return;
  const std::uint64_t number = event.kind == EventKind::call_entry ? call_record(event) : late_record(event);
  if (number != 0) info_.calls.records->give_back(number);
}

}  // namespace kmt
