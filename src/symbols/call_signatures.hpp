// SPDX-License-Identifier: GPL-2.0-or-later
// Makes the signatures of functions from their types in BTF.
#pragma once

#include <map>
#include <string>
#include <unordered_map>

#include "symbols/btf.hpp"
#include "symbols/call_flags.hpp"
#include "trace/calls/signature.hpp"
#include "trace/calls/types.hpp"

namespace kmt {

class BtfSignatures : public CallSignatures {
 public:
  // `btf` and `functions` must outlive this object. `functions` lists the values that are recorded for each function.
  // `arch` is the architecture as printed by uname -m, which determines the values of flags.
  BtfSignatures(const Btf& btf, const std::vector<RecordedFunction>& functions, unsigned word_bits,
                std::string arch = {});

  std::optional<CallSignature> signature(const std::string& function) const override;
  // Returns the type of an argument, a result or a member.
  ValueType value_type(std::uint32_t id) const;

 private:
  // Adds the names of flags to a type. `name` is the name of the value, and is empty for a return value.
  void name_flags(ValueType& type, std::string_view name, FlagMeaning meaning) const;
  void add_members(const btf_type& type, const std::string& prefix, std::uint32_t bit_offset, unsigned nesting,
                   unsigned& looks, std::vector<StructureMember>& to) const;
  std::shared_ptr<const Enumerators> enumerators(std::uint32_t id, const btf_type& type, bool is_signed) const;

  const Btf& btf_;
  std::unordered_map<std::string_view, const RecordedFunction*> recorded_;
  unsigned word_bytes_;
  std::string arch_;
  mutable std::map<std::uint32_t, std::shared_ptr<const Enumerators>> enumerators_;  // key: type ID
  // key: meaning; value: null if no names of flags are known
  mutable std::map<FlagMeaning, std::shared_ptr<const NamedFlags>> flags_;
};

}  // namespace kmt
