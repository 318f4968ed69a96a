// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/features/kernel_symbols.hpp"

#include "base/text.hpp"

namespace kmt {

bool has_addresses(const std::string& kallsyms) {
  for (const std::string_view line : split(kallsyms, '\n'))
    if (line.substr(0, line.find(' ')).find_first_not_of('0') != std::string_view::npos) return true;
  return false;
}

}  // namespace kmt
