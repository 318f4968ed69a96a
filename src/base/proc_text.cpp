// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/proc_text.hpp"

#include "base/number.hpp"
#include "base/text.hpp"

namespace kmt {

std::optional<ProcValue> find_proc_value(std::string_view text, std::string_view name) {
  for (const std::string_view line : split(text, '\n')) {
    if (!line.starts_with(name) || line.size() <= name.size()) continue;
    const char next = line[name.size()];
    if (next != ':' && next != ' ') continue;
    const std::string_view rest = trim(line.substr(name.size() + 1));
    const auto value = parse_leading<std::uint64_t>(rest);
    if (!value) continue;
    const bool in_bytes = rest.ends_with(" kB");
    return ProcValue{in_bytes ? *value * 1024 : *value, in_bytes};
  }
  return std::nullopt;
}

}  // namespace kmt
