// SPDX-License-Identifier: GPL-2.0-or-later
// In CTF 2, an array may have its length, and a variant its selector, in an earlier field. Finds these earlier fields,
// and assigns each of them a slot that stores its value.
#pragma once

#include <array>
#include <cstdint>

#include "formats/ctf/field_node.hpp"

namespace kmt::ctf {

// The structures in which the length or selector of a field may be, indexed by FieldScope. Null if the trace does not
// have the structure.
using FieldRoots = std::array<FieldNode*, kFieldScopes>;

// Assigns slots to all fields in `roots[scope]` that need a length or selector, and to the fields with these values.
// `slots` is the number of assigned slots. Throws Error if a location does not lead to an integer.
void resolve_locations(const FieldRoots& roots, FieldScope scope, std::uint32_t& slots);

}  // namespace kmt::ctf
