// SPDX-License-Identifier: GPL-2.0-or-later
// Names addresses in the code and data of the running kernel and its modules.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "symbols/kallsyms.hpp"
#include "trace/state/object_sample.hpp"

namespace kmt {

class ImageNames {
 public:
  // The text of /proc/kallsyms must outlive this object. Throws Error if the bounds of the kernel's image are missing.
  explicit ImageNames(std::string_view kallsyms);

  // Empty if no symbol is near the address. Does not fill in `functions`.
  std::optional<ImageSymbol> find(std::uint64_t address) const;
  // True for addresses of the kernel's constant data, and for data of modules. Tables of functions are there.
  bool may_be_table(std::uint64_t address) const;

 private:
  // False for addresses in modules, which are before or after the kernel.
  bool is_of_kernel(std::uint64_t address) const { return address >= code_begin_ && address < image_end_; }

  Kallsyms names_;
  std::uint64_t code_begin_ = 0;  // code of the kernel without modules
  std::uint64_t code_end_ = 0;
  std::uint64_t constants_begin_ = 0;
  std::uint64_t constants_end_ = 0;
  std::uint64_t image_end_ = 0;
};

}  // namespace kmt
