// SPDX-License-Identifier: GPL-2.0-or-later
// Names of kernel addresses from the text of /proc/kallsyms, of whatever kernel wrote it.
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
  // Lines of "hexaddress type name[\t[module]]"; what is none is skipped. The text is borrowed and must outlive this.
  // `modules` are those of the same kernel, if known: an address after a module's end does not belong to its last
  // function.
  explicit Kallsyms(std::string_view text, std::vector<LoadedModule> modules = {});

  // The name that trace-cmd shows: the first in the text of several symbols at an address. An address before all
  // symbols or after the last one (whose end is unknown) stays hexadecimal.
  std::string name(std::uint64_t address) const override;

  // The module of the symbol that covers the address, "" for the kernel itself; empty when none does.
  std::optional<std::string_view> module(std::uint64_t address) const;

  // The lines that name these addresses, and where what they name ends: enough to name them again.
  std::string text_for(std::span<const std::uint64_t> addresses) const;

  std::size_t size() const { return symbols_.size(); }

 private:
  // The name is read again from its line when it is asked for: a kernel has some 200,000 symbols, a trace hundreds of
  // call sites.
  struct Symbol {
    std::uint64_t address;
    std::uint32_t name_offset;  // into the text
  };

  const Symbol* find(std::uint64_t address) const;
  bool is_behind_module(const Symbol& symbol, std::uint64_t address) const;
  KallsymsLine line_of(const Symbol& symbol) const;

  std::string_view text_;
  std::vector<Symbol> symbols_;  // by address, each address once
  std::vector<LoadedModule> modules_;
};

}  // namespace kmt
