// SPDX-License-Identifier: GPL-2.0-or-later
// Kernel code moved to where it is in no machine in particular, so that its addresses tell functions, and no longer
// what KASLR hides: the kernel as a whole, modules as a whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kmt {

class CodeLayout {
 public:
  // The text of /proc/kallsyms. Without symbols everything is moved by the same unknown number, which `secret` is.
  CodeLayout(std::string_view kallsyms, unsigned word_bits, std::uint64_t secret);

  std::uint64_t moved(std::uint64_t address) const;

  // The text of the same symbols where they are now; without those that are neither the kernel's nor a module's code
  // or data.
  std::string kallsyms(std::string_view text) const;
  // /proc/modules.
  std::string modules(std::string_view text) const;
  // Lines whose last word is a hexadecimal address: notes `module_sections` and `kernel_reference`.
  std::string last_addresses(std::string_view text) const;
  // The note `module_changes`.
  std::string module_changes(std::string_view text) const;

 private:
  std::uint64_t begin_ = 0;  // of the kernel
  std::uint64_t end_ = 0;
  std::uint64_t kernel_shift_ = 0;  // to be added
  std::uint64_t module_shift_ = 0;
  std::uint64_t mask_;  // of an address
};

}  // namespace kmt
