// SPDX-License-Identifier: GPL-2.0-or-later
// Finds out at which addresses the code of a file with debug info was in the memory of the traced kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "symbols/debug_info.hpp"

namespace kmt {

class Placement {
 public:
  struct Stretch {
    std::uint64_t start = 0;  // address in memory at which the stretch starts
    std::uint64_t size = 0;
    std::uint64_t link_start = 0;
  };

  std::vector<Stretch> stretches;  // sorted; stretches do not overlap
  // symbols_known counts the symbols that both the file and kallsyms have. symbols_right counts those whose addresses
  // agree with this placement. Both numbers are used to check a file without a build ID.
  std::uint64_t symbols_known = 0;
  std::uint64_t symbols_right = 0;

  std::optional<std::uint64_t> link_address(std::uint64_t address) const;
  // True if at least 95 % of the symbols agree. A few symbols may differ, because compilers and linkers may use a name
  // twice, and because the kernel patches its own code.
  bool is_plausible() const { return symbols_known > 0 && symbols_right * 20 >= symbols_known * 19; }
};

// Places the code of the kernel. The kernel is linked at fixed addresses, and is moved as a whole at boot (KASLR). The
// distance is the address of `_stext` (or `_text`) in kallsyms minus its address in the file. Throws Error if kallsyms
// or the file lacks both symbols.
Placement place_kernel(const DebugInfo& debug, std::string_view kallsyms);

// Places each section of a module separately. The addresses are from `sections`, which has lines "MODULE SECTION
// ADDRESS" (docs/formats/kmt.md, "Notes"). If `sections` does not have them, they are computed from the module's
// symbols in kallsyms.
Placement place_module(const DebugInfo& debug, std::string_view module, std::string_view kallsyms,
                       std::string_view sections);

}  // namespace kmt
