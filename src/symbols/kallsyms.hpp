// SPDX-License-Identifier: GPL-2.0-or-later
// Finds names of kernel addresses in the text of any kernel's /proc/kallsyms.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/proc_text.hpp"
#include "symbols/kallsyms_lines.hpp"
#include "trace/code/symbol_names.hpp"

namespace kmt {

class Kallsyms : public SymbolNames {
 public:
  // Parses lines "hexaddress type name[\t[module]]" and skips other lines. The text must outlive this object. `modules`
  // are the modules of the same kernel, if known: an address after a module's end does not belong to the module's last
  // function.
  explicit Kallsyms(std::string_view text, std::vector<LoadedModule> modules = {});

  // Returns the name that trace-cmd shows: of several symbols at an address, the first in the text. An address before
  // all symbols or after the last symbol (whose end is unknown) remains a hexadecimal number.
  std::string name(std::uint64_t address) const override;

  // Returns the module of the symbol that covers the address, "" for the kernel itself, or nothing if no symbol covers
  // it.
  std::optional<std::string_view> module(std::uint64_t address) const;

  // Returns the lines that name these addresses, and the lines after them, which show where the symbols end. This text
  // is sufficient to find the names again.
  std::string text_for(std::span<const std::uint64_t> addresses) const;

  std::size_t size() const { return symbols_.size(); }

 private:
  // The name is parsed from its line when it is needed: a kernel has about 200,000 symbols, a trace hundreds of call
  // sites.
  struct Symbol {
    std::uint64_t address;
    std::uint32_t name_offset;  // offset in the text
  };

  const Symbol* find(std::uint64_t address) const;
  bool is_after_module(const Symbol& symbol, std::uint64_t address) const;
  KallsymsLine line_of(const Symbol& symbol) const;

  std::string_view text_;
  std::vector<Symbol> symbols_;  // by address, with one symbol for each address
  std::vector<LoadedModule> modules_;
};

}  // namespace kmt
