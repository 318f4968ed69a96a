// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the lengths and selectors that fields of CTF 2 depend on, and gives each a slot for its value.
#pragma once

#include <array>
#include <cstdint>

#include "formats/ctf/field_node.hpp"

namespace kmt::ctf {

// The structures that a field may refer to, by FieldScope. Null: the trace does not have it.
using FieldRoots = std::array<FieldNode*, kFieldScopes>;

// Sets the slots of all dependent fields in `roots[scope]` and of the fields they depend on. `slots` counts the slots.
// Throws Error if a location leads to no integer.
void resolve_locations(const FieldRoots& roots, FieldScope scope, std::uint32_t& slots);

}  // namespace kmt::ctf
