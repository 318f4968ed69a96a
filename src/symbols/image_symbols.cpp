// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/image_symbols.hpp"

#include "base/confinement/privileges.hpp"
#include "base/error.hpp"
#include "symbols/kallsyms_lines.hpp"

namespace kmt {

ImageNames::ImageNames(std::string_view kallsyms) : names_(kallsyms) {
  for_each_kallsyms_line(kallsyms, [this](const KallsymsLine& line) {
    const std::string_view name = line.name();
    if (!name.starts_with('_') || !line.module().empty()) return;
    if (name == "_stext") code_begin_ = line.address;
    if (name == "_etext") code_end_ = line.address;
    if (name == "__start_rodata") constants_begin_ = line.address;
    if (name == "__end_rodata") constants_end_ = line.address;
    if (name == "_end") image_end_ = line.address;
  });
  if (code_begin_ != 0 && code_end_ != 0 && constants_begin_ != 0 && constants_end_ != 0 && image_end_ != 0) return;
  throw Error("Cannot find the code and data of the kernel in its symbols", ExitCode::unsupported)
      .at({"/proc/kallsyms", {}, {}})
      .hint(std::string("The kernel needs CONFIG_KALLSYMS_ALL. If it has this option, ") +
            advice_for_more_privileges());
}

std::optional<ImageSymbol> ImageNames::find(std::uint64_t address) const {
  // kallsyms does not show where the last symbol of a module ends.
  constexpr std::uint64_t kMostOffset = 1 << 16;
  const auto found = names_.symbol(address);
  if (!found || (!is_of_kernel(address) && (found->module.empty() || found->offset > kMostOffset))) return std::nullopt;
  ImageSymbol symbol{std::string(found->name), std::string(found->module), found->offset};
  // In some kernel versions, the type letters of the kernel's own symbols do not show which symbols are code.
  symbol.is_code =
      found->module.empty() ? address >= code_begin_ && address < code_end_ : found->type == 't' || found->type == 'T';
  return symbol;
}

bool ImageNames::may_be_table(std::uint64_t address) const {
  return !is_of_kernel(address) || (address >= constants_begin_ && address < constants_end_);
}

}  // namespace kmt
