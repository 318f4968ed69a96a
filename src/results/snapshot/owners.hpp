// SPDX-License-Identifier: GPL-2.0-or-later
// Names of the properties of memory owners, and their growth between two snapshots.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/state/memory_owner.hpp"

namespace kmt {

struct OwnerText {
  std::string_view id;  // name in JSON
  std::string_view label;
};
const OwnerText& describe(OwnerKind kind);
const OwnerText& describe(OwnerExactness exactness);
const OwnerText& describe(OwnerPlace place);

// Returns a name that is unique in a snapshot, and the same in later snapshots: "pipe: bash (pid 12)".
std::string full_name(const MemoryOwner& owner);

struct OwnerGrowth {
  MemoryOwner owner;  // as in the later snapshot; as in the earlier one if it no longer exists
  std::uint64_t before = 0;
  std::uint64_t after = 0;
};

}  // namespace kmt
