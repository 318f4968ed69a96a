// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the names of kernel addresses in a text with the format of /proc/kallsyms, which may be from another kernel.
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

struct FoundSymbol {
  std::string_view name;
  std::string_view module;   // empty for the kernel itself
  std::uint64_t offset = 0;  // of the address in the symbol
  char type = 0;             // the type letter as in nm(1)
};

class Kallsyms : public SymbolNames {
 public:
  // Parses lines "hexaddress type name[\t[module]]" and skips all other lines. The text must outlive this object.
  // `modules` are the modules of the traced kernel, if they are known. They show where a module ends, so that an
  // address after this end is not assigned to the last function of the module.
  explicit Kallsyms(std::string_view text, std::vector<LoadedModule> modules = {}, std::string module_directories = {});

  // Returns the name and the offset of the symbol that contains the address. As in trace-cmd, the first of several
  // symbols at an address is used. If no symbol contains the address, returns it as a hexadecimal number. The end of
  // the last symbol is unknown, so no address after its start is in a symbol.
  std::string name(std::uint64_t address) const override;

  std::string_view module_directories() const override { return module_directories_; }

  // Returns the module of the symbol that contains the address, and "" for the kernel itself. Returns nothing if no
  // symbol contains the address.
  std::optional<std::string_view> module(std::uint64_t address) const;

  // Returns the symbol that contains the address. The text must be that of /proc/kallsyms.
  std::optional<FoundSymbol> symbol(std::uint64_t address) const;

  // Returns the part of the text that is needed to find the names of these addresses. For each address, this is the
  // line of its symbol, and the line after it, which shows where the symbol ends.
  std::string text_for(std::span<const std::uint64_t> addresses) const;

  std::size_t size() const { return symbols_.size(); }

 private:
  // The name is not stored, but parsed from the text when it is needed, because a kernel has about 200,000 symbols, but
  // a trace has only hundreds of call sites.
  struct Symbol {
    std::uint64_t address;
    std::uint32_t name_offset;  // offset of the name in the text, in bytes
  };

  const Symbol* find(std::uint64_t address) const;
  bool is_after_module(const Symbol& symbol, std::uint64_t address) const;
  KallsymsLine line_of(const Symbol& symbol) const;

  std::string_view text_;
  std::vector<Symbol> symbols_;  // sorted by address; there is only one symbol for each address
  std::vector<LoadedModule> modules_;
  std::string module_directories_;
};

}  // namespace kmt
