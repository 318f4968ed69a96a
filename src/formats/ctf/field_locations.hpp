// SPDX-License-Identifier: GPL-2.0-or-later
// In CTF 2, the length or the selector of a field may be the value of an earlier field. Finds these earlier fields, and
// assigns each a slot for its value.
#pragma once

#include <array>
#include <cstdint>

#include "formats/ctf/field_node.hpp"

namespace kmt::ctf {

// The structures in which a field may look for its length or selector, indexed by FieldScope. Null if the trace lacks
// the structure.
using FieldRoots = std::array<FieldNode*, kFieldScopes>;

// Assigns slots to all fields in `roots[scope]` that need a length or selector, and to the fields that contain it.
// `slots` is the number of assigned slots. Throws Error if a location does not lead to an integer.
void resolve_locations(const FieldRoots& roots, FieldScope scope, std::uint32_t& slots);

}  // namespace kmt::ctf
