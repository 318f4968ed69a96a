// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the addresses that the code of a file with debug info had in the traced kernel's memory.
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
    std::uint64_t start = 0;  // address at run time
    std::uint64_t size = 0;
    std::uint64_t link_start = 0;
  };

  std::vector<Stretch> stretches;  // do not overlap
  // symbols_known counts the symbols that are known on both sides; symbols_right counts those whose addresses match
  // this placement. They allow checking a file that has no build ID.
  std::uint64_t symbols_known = 0;
  std::uint64_t symbols_right = 0;

  std::optional<std::uint64_t> link_address(std::uint64_t address) const;
  // A few symbols may differ, because compilers and linkers may use a name twice, and the kernel patches itself.
  bool is_plausible() const { return symbols_known > 0 && symbols_right * 20 >= symbols_known * 19; }
};

// The kernel is linked at fixed addresses and moved as a whole at boot (KASLR). The distance is the difference between
// the address of `_stext` (or `_text`) in kallsyms and in the file. Throws Error if one side has neither symbol.
Placement place_kernel(const DebugInfo& debug, std::string_view kallsyms);

// Each section of a module is placed separately. The addresses are from `sections` (lines "MODULE SECTION ADDRESS";
// docs/formats/kmt.md, "Notes"), otherwise from the module's symbols in kallsyms.
Placement place_module(const DebugInfo& debug, std::string_view module, std::string_view kallsyms,
                       std::string_view sections);

}  // namespace kmt
