// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/call_decoder.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "trace/call_records.hpp"

namespace kmt {

CallDecoder::CallDecoder(const TraceInfo& info, const CallSignatures* signatures)
    : info_(info), signatures_(signatures), abi_{info.byte_order, info.word_bits, info.arch, &info.gfp_flags} {}

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
  const CallRecord record = info_.call_records->at(call_record(entry));
  return call_values(*signature, abi_, record.registers, record.values);
}

void CallDecoder::add_late_values(const CallSignature* signature, const Event& exit,
                                  std::optional<CallValues>& arguments) const {
  if (!info_.call_records || late_record(exit) == 0 || signature == nullptr || !arguments) return;
  kmt::add_late_values(*arguments, *signature, abi_, info_.call_records->at(late_record(exit)).values);
}

std::optional<CallValue> CallDecoder::result(const CallSignature* signature, const Event& exit) const {
  if (signature == nullptr || (exit.page_flags & CallFlags::kReturnValue) == 0) return std::nullopt;
  return result_value(signature->result, abi_, return_value(exit));
}

bool CallDecoder::meet(const std::vector<CallCondition>& conditions, const std::optional<CallValues>& arguments) {
  return std::ranges::all_of(conditions,
                             [&](const CallCondition& condition) { return arguments && holds(condition, *arguments); });
}

void CallDecoder::check_names(const std::vector<CallCondition>& conditions, bool has_arguments) const {
  if (conditions.empty()) return;
  if (!has_arguments) throw Error("Conditions on arguments: the trace holds none");
  if (signatures_ == nullptr) throw Error("Conditions on arguments: the trace does not hold their types");
  std::set<std::string> names;
  for (const auto& known : functions_) {
    if (!known || !*known) continue;
    for (const Parameter& parameter : (*known)->parameters) names.insert(printable(parameter.name));
    for (const RecordedValueType& recorded : (*known)->recorded) names.insert(printable(recorded.text));
  }
  names.erase("");
  for (const CallCondition& condition : conditions)
    if (!names.contains(printable(condition.name)))
      throw Error(fmt::format("No traced function that is selected has an argument \"{}\"", printable(condition.name)))
          .hint(fmt::format("There are: {}", fmt::join(names, ", ")));
}

void CallDecoder::give_back(const Event& event) const {
  if (!info_.call_records) return;
  const std::uint64_t number = event.kind == EventKind::call_entry ? call_record(event) : late_record(event);
  if (number != 0) info_.call_records->give_back(number);
}

}  // namespace kmt
