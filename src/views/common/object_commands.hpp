// SPDX-License-Identifier: GPL-2.0-or-later
// Commands of other tools that inspect an object of the kernel.
#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "results/snapshot/object_kinds.hpp"

namespace kmt {

// True if the structure is certain enough to print its members.
inline bool has_structure(const SlabKind& kind) { return kind.structure.confidence >= Confidence::medium; }

inline std::string drgn_command(const SlabKind& kind, std::uint64_t address) {
  return has_structure(kind) ? fmt::format("Object(prog, \"struct {} *\", {:#x})[0]", kind.structure.name, address)
                             : fmt::format("identify_address({:#x}); prog.read({:#x}, 64)", address, address);
}

inline std::string crash_command(const SlabKind& kind, std::uint64_t object_size, std::uint64_t address) {
  return has_structure(kind) ? fmt::format("struct {} {:x}", kind.structure.name, address)
                             : fmt::format("rd -s {:x} {}", address, object_size / sizeof(std::uint64_t));
}

}  // namespace kmt
