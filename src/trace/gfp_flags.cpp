// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/gfp_flags.hpp"

#include <fmt/format.h>

namespace kmt {

std::string gfp_text(const std::vector<FlagName>& names, std::uint64_t flags) {
  if (names.empty()) return {};
  if (flags == 0) return "none";
  std::string text;
  const auto append = [&text](const std::string& part) { text += (text.empty() ? "" : "|") + part; };
  for (const FlagName& flag : names) {
    if (flag.bits == 0 || (flags & flag.bits) != flag.bits) continue;
    append(flag.name);
    flags &= ~flag.bits;
  }
  if (flags != 0) append(fmt::format("{:#x}", flags));
  return text;
}

}  // namespace kmt
