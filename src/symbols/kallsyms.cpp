// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/kallsyms.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

#include <fmt/format.h>

namespace kmt {

namespace {

constexpr std::string_view kSpace = " \t\r";

struct Line {
  std::uint64_t address = 0;
  std::size_t name = 0;  // where the name starts in the line; 0: the line is none
};

Line parse(std::string_view line) {
  Line parsed;
  const auto [end, code] = std::from_chars(line.data(), line.data() + line.size(), parsed.address, 16);
  const auto digits = static_cast<std::size_t>(end - line.data());
  // "ADDRESS T NAME"
  if (code != std::errc{} || line.size() < digits + 4 || line[digits] != ' ' || line[digits + 2] != ' ') return {};
  const char type = line[digits + 1];
  // Absolute symbols are no addresses (x86 keeps offsets of per-CPU variables there), names in `$` are ARM's marks of
  // code and data, and all addresses are 0 for those who may not see them.
  if (type == 'a' || type == 'A' || line[digits + 3] == '$' || parsed.address == 0) return {};
  parsed.name = digits + 3;
  return parsed;
}

}  // namespace

Kallsyms::Kallsyms(std::string_view text) : text_(text) {
  text_ = text_.substr(0, std::numeric_limits<std::uint32_t>::max());
  constexpr std::size_t kTypicalLine = 40;
  symbols_.reserve(text_.size() / kTypicalLine);
  bool sorted = true;
  for (std::size_t at = 0; at < text_.size();) {
    const std::size_t end = std::min(text_.find('\n', at), text_.size());
    if (const Line line = parse(text_.substr(at, end - at)); line.name != 0) {
      if (!symbols_.empty() && line.address < symbols_.back().address) sorted = false;
      symbols_.push_back({line.address, static_cast<std::uint32_t>(at + line.name)});
    }
    at = end + 1;
  }
  // Stable, so that the first of several symbols at an address is the one that is kept.
  if (!sorted)
    std::stable_sort(symbols_.begin(), symbols_.end(),
                     [](const Symbol& a, const Symbol& b) { return a.address < b.address; });
  const auto last = std::unique(symbols_.begin(), symbols_.end(),
                                [](const Symbol& a, const Symbol& b) { return a.address == b.address; });
  symbols_.erase(last, symbols_.end());
}

std::string Kallsyms::name(std::uint64_t address) const {
  const auto after = std::upper_bound(symbols_.begin(), symbols_.end(), address,
                                      [](std::uint64_t at, const Symbol& symbol) { return at < symbol.address; });
  if (after == symbols_.begin()) return fmt::format("{:#x}", address);
  const Symbol& symbol = *(after - 1);
  if (after == symbols_.end() && symbol.address != address) return fmt::format("{:#x}", address);

  std::string_view line = text_.substr(symbol.name_offset);
  line = line.substr(0, line.find('\n'));
  const std::string_view name = line.substr(0, line.find_first_of(kSpace));
  std::string result = fmt::format("{}+{:#x}", name, address - symbol.address);
  const std::size_t open = line.find('[', name.size());
  const std::size_t close = line.find(']', name.size());
  if (open != std::string_view::npos && close != std::string_view::npos && open < close)
    result += fmt::format(" {}", line.substr(open, close - open + 1));
  return result;
}

}  // namespace kmt
