// SPDX-License-Identifier: GPL-2.0-or-later
// Names for kernel addresses, as analyses and results see them.
#pragma once

#include <cstdint>
#include <string>

namespace kmt {

class SymbolNames {
 public:
  virtual ~SymbolNames() = default;
  // "kmem_cache_create+0x1f", "ext4_find_extent+0x3c [ext4]"; the address in hex when no symbol covers it.
  virtual std::string name(std::uint64_t address) const = 0;
};

}  // namespace kmt
