// SPDX-License-Identifier: GPL-2.0-or-later
// Moves addresses of kernel code so that the code starts at the same address for all machines. Moved addresses still
// identify functions, but do not reveal the offsets that KASLR keeps secret. All kernel code moves by one offset, and
// all module code by another.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kmt {

class CodeLayout {
 public:
  // `kallsyms` is the text of /proc/kallsyms. If `kallsyms` has no symbols, adds `secret`, rounded down to a page, to
  // all addresses.
  CodeLayout(std::string_view kallsyms, unsigned word_bits, std::uint64_t secret);

  std::uint64_t moved(std::uint64_t address) const;

  // Returns the text with moved symbols. Symbols that belong neither to the kernel nor to a module are dropped.
  std::string kallsyms(std::string_view text) const;
  // Returns the text of /proc/modules with moved addresses.
  std::string modules(std::string_view text) const;
  // Returns the note `module_sections` or `kernel_reference` with moved addresses. Each line of these notes ends with a
  // hexadecimal address.
  std::string last_addresses(std::string_view text) const;
  // Returns the note `module_changes` with moved addresses.
  std::string module_changes(std::string_view text) const;

 private:
  std::uint64_t begin_ = 0;  // start of the kernel's code
  std::uint64_t end_ = 0;
  std::uint64_t kernel_shift_ = 0;  // added to addresses of kernel code
  std::uint64_t module_shift_ = 0;
  std::uint64_t mask_;  // the bits that an address has: the lower 32, or all 64
};

}  // namespace kmt
