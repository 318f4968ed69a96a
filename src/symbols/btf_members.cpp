// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/btf_members.hpp"

#include <algorithm>

namespace kmt {

namespace {

constexpr unsigned kMostDepth = 16;          // limit for nested structures
constexpr std::size_t kMostLeaves = 16'384;  // limit for the members of a structure
constexpr std::uint32_t kMostElements = 64;  // limit for the elements of an array

std::uint64_t bytes_of(const Btf& btf, std::uint32_t type) { return btf.size_of(type).value_or(0); }

MemberPlace place_of(const Btf& btf, const btf_type& structure, std::uint32_t index, std::uint64_t base_bits) {
  const std::uint64_t bit_offset = base_bits + btf_member_bit_offset(&structure, index);
  const btf_member& member = btf_members(&structure)[index];
  MemberPlace place;
  place.offset = static_cast<std::uint32_t>(bit_offset / 8);
  place.size = static_cast<std::uint32_t>(bytes_of(btf, member.type));
  place.bits = btf_member_bitfield_size(&structure, index);
  if (place.bits != 0 && place.size != 0) {
    const std::uint64_t unit = std::uint64_t{place.size} * 8;
    place.offset = static_cast<std::uint32_t>(bit_offset / unit * place.size);
    place.bit = static_cast<std::uint32_t>(bit_offset % unit);
  }
  if (const btf_type* const type = btf.strip(member.type).type; type != nullptr && btf_is_array(type))
    place.type_size = static_cast<std::uint32_t>(bytes_of(btf, btf_array(type)->type));
  return place;
}

std::optional<MemberPlace> find_member(const Btf& btf, const btf_type& structure, std::string_view name,
                                       std::uint64_t base_bits, unsigned depth) {
  if (depth > kMostDepth) return std::nullopt;
  for (std::uint32_t i = 0; i < btf_vlen(&structure); ++i) {
    const btf_member& member = btf_members(&structure)[i];
    const std::string_view own = btf.name(member.name_off);
    if (own == name) return place_of(btf, structure, i, base_bits);
    if (!own.empty()) continue;
    const btf_type* const inner = btf.strip(member.type).type;
    if (!is_structure(inner)) continue;
    if (auto found = find_member(btf, *inner, name, base_bits + btf_member_bit_offset(&structure, i), depth + 1))
      return found;
  }
  return std::nullopt;
}

class LeafWalk {
 public:
  LeafWalk(const Btf& btf, const std::function<void(std::uint64_t, std::uint32_t)>& use) : btf_(btf), use_(use) {}

  void structure(const btf_type& type, std::uint64_t base, unsigned depth) {
    for (std::uint32_t i = 0; i < btf_vlen(&type); ++i) {
      if (btf_member_bitfield_size(&type, i) != 0) continue;
      leaf(btf_members(&type)[i].type, base + btf_member_bit_offset(&type, i) / 8, depth);
    }
  }

 private:
  void leaf(std::uint32_t id, std::uint64_t offset, unsigned depth) {
    if (depth > kMostDepth || ++leaves_ > kMostLeaves) return;
    const btf_type* const type = btf_.strip(id).type;
    if (type == nullptr) return;
    if (is_structure(type) && btf_.name_of(*type) != "list_head") {
      structure(*type, offset, depth + 1);
    } else if (btf_is_array(type)) {
      const std::uint64_t size = bytes_of(btf_, btf_array(type)->type);
      for (std::uint32_t i = 0; i < std::min(btf_array(type)->nelems, kMostElements); ++i)
        leaf(btf_array(type)->type, offset + i * size, depth + 1);
    } else {
      use_(offset, id);
    }
  }

  const Btf& btf_;
  const std::function<void(std::uint64_t, std::uint32_t)>& use_;
  std::size_t leaves_ = 0;
};

}  // namespace

bool is_structure(const btf_type* type) { return type != nullptr && (btf_is_struct(type) || btf_is_union(type)); }

const btf_type* structure_named(const Btf& btf, std::string_view name) {
  const std::string text(name);
  const int id = btf__find_by_name_kind(btf.handle(), text.c_str(), BTF_KIND_STRUCT);
  return id > 0 ? btf.type(static_cast<std::uint32_t>(id)) : nullptr;
}

std::optional<MemberPlace> member_of(const Btf& btf, std::string_view structure, std::string_view member) {
  const btf_type* const type = structure_named(btf, structure);
  return type != nullptr ? find_member(btf, *type, member, 0, 0) : std::nullopt;
}

void for_each_leaf(const Btf& btf, const btf_type& structure,
                   const std::function<void(std::uint64_t, std::uint32_t)>& use) {
  LeafWalk(btf, use).structure(structure, 0, 0);
}

}  // namespace kmt
