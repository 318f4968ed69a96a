// SPDX-License-Identifier: GPL-2.0-or-later
// Parses the lines of /proc/kallsyms, which have the format "hexaddress type name[\t[module]]".
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/number.hpp"

namespace kmt {

// One line. The string views refer to the parsed text.
struct KallsymsLine {
  std::uint64_t address = 0;
  std::string_view rest;  // the line from the name on; empty if the line is not a symbol
  char type = 0;          // the type letter as in nm(1); 0: unknown

  std::string_view name() const { return rest.substr(0, rest.find_first_of(" \t\r")); }
  std::string_view module() const {  // returns an empty text for the kernel itself
    const std::size_t open = rest.find('[', name().size());
    if (open == std::string_view::npos) return {};
    const std::size_t close = rest.find(']', open);
    return close == std::string_view::npos ? std::string_view() : rest.substr(open + 1, close - open - 1);
  }
};

inline KallsymsLine parse_kallsyms_line(std::string_view line) {
  // A line has the form "ADDRESS T NAME".
  const auto address = take_number<std::uint64_t>(line, 16);
  if (!address || line.size() < 4 || line[0] != ' ' || line[2] != ' ') return {};
  const char type = line[1];
  // Skip lines that are not symbols of code or data. Absolute symbols are not addresses (on x86, they are offsets of
  // per-CPU variables). Names that start with `$` are marks of ARM for code and data. The address is 0 if the user has
  // no permission to see addresses.
  if (type == 'a' || type == 'A' || line[3] == '$' || *address == 0) return {};
  KallsymsLine parsed;
  parsed.address = *address;
  parsed.type = type;
  parsed.rest = line.substr(3);
  return parsed;
}

// Returns the first line that is a symbol and for which wanted() returns true. If there is no such line, `rest` is
// empty.
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

// Calls use() for each line that is a symbol.
template <typename Use>
void for_each_kallsyms_line(std::string_view text, Use use) {
  find_kallsyms_line(text, [&use](const KallsymsLine& line) {
    use(line);
    return false;
  });
}

}  // namespace kmt
