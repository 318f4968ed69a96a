// SPDX-License-Identifier: GPL-2.0-or-later
// Where the code of a file with debug info lay in the memory of the traced kernel.
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
    std::uint64_t start = 0;  // at run time
    std::uint64_t size = 0;
    std::uint64_t link_start = 0;
  };

  std::vector<Stretch> stretches;  // that do not overlap
  // How many of the symbols that both sides know lie where this says, by which a file can be checked that has no
  // build-id.
  std::uint64_t symbols_known = 0;
  std::uint64_t symbols_right = 0;

  std::optional<std::uint64_t> link_address(std::uint64_t address) const;
  // All except a few: compilers and linkers may give a name twice, and the kernel patches itself.
  bool is_plausible() const { return symbols_known > 0 && symbols_right * 20 >= symbols_known * 19; }
};

// The kernel is linked at fixed addresses and moved as a whole when it boots (KASLR): by `_stext`, or `_text`, in
// kallsyms less the same symbol of the file. Throws Error where one side has neither.
Placement place_kernel(const DebugInfo& debug, std::string_view kallsyms);

// The sections of a module are placed one by one. Their addresses come from `sections` ("MODULE SECTION ADDRESS" lines,
// docs/formats/kmt.md, "Notes"), else from the module's symbols in kallsyms.
Placement place_module(const DebugInfo& debug, std::string_view module, std::string_view kallsyms,
                       std::string_view sections);

}  // namespace kmt
