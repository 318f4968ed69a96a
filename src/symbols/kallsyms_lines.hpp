// SPDX-License-Identifier: GPL-2.0-or-later
// The lines of /proc/kallsyms: "hexaddress type name[\t[module]]".
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/number.hpp"

namespace kmt {

// Views borrow from the text.
struct KallsymsLine {
  std::uint64_t address = 0;
  std::string_view rest;  // from the name on; empty: the line is none
  char type = 0;          // as in nm(1); 0: unknown

  std::string_view name() const { return rest.substr(0, rest.find_first_of(" \t\r")); }
  std::string_view module() const {  // empty: the kernel itself
    const std::size_t open = rest.find('[', name().size());
    if (open == std::string_view::npos) return {};
    const std::size_t close = rest.find(']', open);
    return close == std::string_view::npos ? std::string_view() : rest.substr(open + 1, close - open - 1);
  }
};

inline KallsymsLine parse_kallsyms_line(std::string_view line) {
  // "ADDRESS T NAME"
  const auto address = take_number<std::uint64_t>(line, 16);
  if (!address || line.size() < 4 || line[0] != ' ' || line[2] != ' ') return {};
  const char type = line[1];
  // Absolute symbols are no addresses (x86 keeps offsets of per-CPU variables there), names in `$` are ARM's marks of
  // code and data, and all addresses are 0 for those who may not see them.
  if (type == 'a' || type == 'A' || line[3] == '$' || *address == 0) return {};
  KallsymsLine parsed;
  parsed.address = *address;
  parsed.type = type;
  parsed.rest = line.substr(3);
  return parsed;
}

// The first line that is a symbol and that is `wanted`; one without rest where there is none.
template <typename Wanted>
KallsymsLine find_kallsyms_line(std::string_view text, Wanted wanted) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const KallsymsLine line = parse_kallsyms_line(text.substr(at, end - at));
    if (!line.rest.empty() && wanted(line)) return line;
    at = end + 1;
  }
  return {};
}

// Calls `use` with every line that is a symbol; others are skipped.
template <typename Use>
void for_each_kallsyms_line(std::string_view text, Use use) {
  find_kallsyms_line(text, [&use](const KallsymsLine& line) {
    use(line);
    return false;
  });
}

}  // namespace kmt
