// SPDX-License-Identifier: GPL-2.0-or-later
// Finds members of structures in BTF, also those of unnamed structures and unions inside.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "symbols/btf.hpp"
#include "trace/state/slab_layout.hpp"

namespace kmt {

bool is_structure(const btf_type* type);  // or a union; false for null
// Returns the structure with this name, or null.
const btf_type* structure_named(const Btf& btf, std::string_view name);
// Returns the place of a member. Empty if the structure has no such member.
std::optional<MemberPlace> member_of(const Btf& btf, std::string_view structure, std::string_view member);

// Calls use(offset in bytes, type ID) for each member that is neither a structure nor a union, at any depth. Elements
// of arrays count as members, but only the first 64 of each array. Bitfields are left out. A list_head is a member.
void for_each_leaf(const Btf& btf, const btf_type& structure,
                   const std::function<void(std::uint64_t, std::uint32_t)>& use);

}  // namespace kmt
