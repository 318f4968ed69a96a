// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/call_signatures.hpp"

namespace kmt {

namespace {

constexpr unsigned kMostParameters = 64;  // limit for arguments; no machine has so many argument registers
constexpr std::size_t kMostMembers = 16;
// maximum number of members examined, because nested structures may have very many members that cannot be shown
constexpr unsigned kMostLooks = 1024;

bool is_big_endian(const Btf& btf) { return btf__endianness(btf.handle()) == BTF_BIG_ENDIAN; }

bool has_sign(const btf_type& type) {
  if (btf_kflag(&type)) return true;
  // Before Linux 6.0, BTF does not state whether an enumeration is signed.
  const struct btf_enum* const values = btf_enum(&type);
  if (btf_is_enum(&type))
    for (unsigned i = 0; i < btf_vlen(&type); ++i)
      if (values[i].val < 0) return true;
  return false;
}

}  // namespace

BtfSignatures::BtfSignatures(const Btf& btf, const std::vector<RecordedFunction>& functions, unsigned word_bits,
                             std::string arch)
    : btf_(btf), word_bytes_(word_bits / 8), arch_(std::move(arch)) {
  for (const RecordedFunction& function : functions) recorded_.emplace(function.name, &function);
}

std::shared_ptr<const Enumerators> BtfSignatures::enumerators(std::uint32_t id, const btf_type& type,
                                                              bool is_signed) const {
  std::shared_ptr<const Enumerators>& known = enumerators_[id];
  if (known) return known;
  Enumerators all;
  for (unsigned i = 0; i < btf_vlen(&type); ++i) {
    if (btf_is_enum64(&type)) {
      const struct btf_enum64& value = btf_enum64(&type)[i];
      all.emplace_back(btf_enum64_value(&value), btf_.name(value.name_off));
    } else {
      const struct btf_enum& value = btf_enum(&type)[i];
      all.emplace_back(is_signed ? static_cast<std::uint64_t>(std::int64_t{value.val})
                                 : std::uint64_t{static_cast<std::uint32_t>(value.val)},
                       btf_.name(value.name_off));
    }
  }
  return known = std::make_shared<const Enumerators>(std::move(all));
}

ValueType BtfSignatures::value_type(std::uint32_t id) const {
  ValueType value;
  const Btf::Stripped stripped = btf_.strip(id);
  if (stripped.is_broken) return value;
  if (stripped.type == nullptr) {
    value.kind = ValueKind::nothing;
    return value;
  }
  const btf_type& type = *stripped.type;
  value.bytes = type.size;
  switch (btf_kind(&type)) {
    case BTF_KIND_INT: {
      const bool is_number = type.size == 1 || type.size == 2 || type.size == 4 || type.size == 8;
      value.kind = is_number ? ValueKind::integer : ValueKind::structure;
      if (is_number && (btf_int_encoding(&type) & BTF_INT_BOOL) != 0) value.kind = ValueKind::boolean;
      value.is_signed = (btf_int_encoding(&type) & BTF_INT_SIGNED) != 0;
      value.is_size = stripped.is_size;
      value.is_gfp = stripped.is_gfp;
      value.is_long = btf_.name_of(type) == "long unsigned int";
      value.is_hex = !value.is_signed && !value.is_size && (value.is_long || type.size == 8);
      break;
    }
    case BTF_KIND_ENUM:
    case BTF_KIND_ENUM64:
      if (type.size != 1 && type.size != 2 && type.size != 4 && type.size != 8) break;
      value.kind = ValueKind::enumeration;
      value.is_signed = has_sign(type);
      value.enumerators = enumerators(stripped.id, type, value.is_signed);
      if (!value.is_signed) value.flags = named_flags(*value.enumerators);
      break;
    case BTF_KIND_PTR: {
      value.bytes = word_bytes_;
      const Btf::Stripped to = btf_.strip(type.type);
      const bool is_text = to.is_const && btf_.is_character(to.id) && btf_.name_of(*to.type) == "char";
      value.kind = is_text ? ValueKind::string : ValueKind::pointer;
      break;
    }
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION:
      value.kind = ValueKind::structure;
      if (type.size <= 2 * word_bytes_) {
        std::vector<StructureMember> members;
        unsigned looks = kMostLooks;
        add_members(type, {}, 0, 0, looks, members);
        if (!members.empty()) value.members = std::make_shared<const std::vector<StructureMember>>(std::move(members));
      }
      break;
    default: value.bytes = 0;
  }
  return value;
}

// Adds the members of a structure that are numbers.
void BtfSignatures::add_members(const btf_type& type, const std::string& prefix, std::uint32_t bit_offset,
                                unsigned nesting, unsigned& looks, std::vector<StructureMember>& to) const {
  constexpr unsigned kMostNesting = 8;
  const btf_member* const members = btf_members(&type);
  for (unsigned i = 0; i < btf_vlen(&type) && to.size() < kMostMembers && looks > 0; ++i) {
    --looks;
    const std::uint32_t bit = bit_offset + btf_member_bit_offset(&type, i);
    std::string name = prefix + std::string(btf_.name(members[i].name_off));
    const btf_type* const inner = btf_.strip(members[i].type).type;
    if (inner != nullptr && btf_is_composite(inner)) {
      if (nesting < kMostNesting) add_members(*inner, name.empty() ? name : name + '.', bit, nesting + 1, looks, to);
      continue;
    }
    StructureMember member{std::move(name), value_type(members[i].type), 0, 0, 0};
    if (member.type.kind == ValueKind::string) member.type.kind = ValueKind::pointer;
    name_flags(member.type, member.name, flag_meaning({}, member.name, btf_.strip(members[i].type)));
    const std::uint32_t bytes = member.type.bytes;
    if (member.name.empty() || (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)) continue;
    member.bits = static_cast<std::uint8_t>(btf_member_bitfield_size(&type, i));
    member.offset = bit / 8 / bytes * bytes;
    const std::uint32_t from = bit - 8 * member.offset;
    if (from + member.bits > 8 * bytes) continue;
    if (member.bits != 0)
      member.bit_shift = static_cast<std::uint8_t>(is_big_endian(btf_) ? 8 * bytes - from - member.bits : from);
    else
      member.offset = bit / 8;
    to.push_back(std::move(member));
  }
}

void BtfSignatures::name_flags(ValueType& type, std::string_view name, FlagMeaning meaning) const {
  const bool is_integer = type.kind == ValueKind::integer;
  if (is_integer && (is_named_like_flags(name) || meaning != FlagMeaning::none)) {
    type.is_signed = false;  // a set of flags is unsigned, even if its type is signed
    type.is_hex = true;
  } else if (is_integer && !type.is_signed) {
    type.is_hex = type.is_gfp || (type.is_hex && !is_named_like_count(name));
  }
  if (is_integer && type.is_signed) type.enumerators = named_numbers(name);
  if (meaning == FlagMeaning::none) return;
  type.is_octal = meaning == FlagMeaning::mode;
  const auto [known, is_new] = flags_.try_emplace(meaning);
  if (is_new) known->second = named_flags(btf_, meaning, arch_);
  type.flags = known->second;
}

std::optional<CallSignature> BtfSignatures::signature(const std::string& function) const {
  const btf_type* const prototype = btf_.prototype(function);
  if (prototype == nullptr) return std::nullopt;
  CallSignature signature;
  signature.result = value_type(prototype->type);
  name_flags(signature.result, {}, flag_meaning_of_result(btf_.strip(prototype->type)));
  const btf_param* const parameters = btf_params(prototype);
  for (unsigned i = 0; i < btf_vlen(prototype) && i < kMostParameters; ++i) {
    if (parameters[i].type == 0) {
      signature.more = true;  // "..."
      break;
    }
    Parameter parameter{std::string(btf_.name(parameters[i].name_off)), value_type(parameters[i].type)};
    name_flags(parameter.type, parameter.name, flag_meaning(function, parameter.name, btf_.strip(parameters[i].type)));
    signature.parameters.push_back(std::move(parameter));
  }
  if (const auto found = recorded_.find(function); found != recorded_.end())
    for (const RecordedValue& value : found->second->values) {
      ValueType type;
      if (value.is_string)
        type.kind = ValueKind::string;
      else
        type = value_type(value.type);
      if (!value.is_string) name_flags(type, value.text, flag_meaning(function, value.text, btf_.strip(value.type)));
      if (!value.is_string && type.kind == ValueKind::string) type.kind = ValueKind::pointer;
      signature.recorded.push_back({value.text, std::move(type), value.bit_shift, value.bits});
    }
  return signature;
}

}  // namespace kmt
