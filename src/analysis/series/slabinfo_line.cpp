// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/series/slabinfo_line.hpp"

#include <array>
#include <cstdint>

#include "base/number.hpp"
#include "base/text.hpp"

namespace kmt {

namespace {

// The last `count` numbers of a text, in its order; empty optional when they are none. `text` keeps what is before
// them.
template <std::size_t count>
std::optional<std::array<double, count>> last_numbers(std::string_view& text) {
  std::array<double, count> numbers{};
  for (std::size_t i = count; i-- > 0;) {
    text = trim(text);
    const std::size_t begin = text.find_last_of(" \t") + 1;  // 0 where there is none
    const auto number = parse_number<std::uint64_t>(text.substr(begin));
    if (!number) return std::nullopt;
    numbers[i] = static_cast<double>(*number);
    text.remove_suffix(text.size() - begin);
  }
  text = trim(text);
  return numbers;
}

}  // namespace

std::optional<SlabinfoLine> parse_slabinfo_line(std::string_view line) {
  const std::size_t tunables = line.find(" : tunables ");
  const std::size_t slabdata = line.rfind(" : slabdata ");
  if (line.starts_with('#') || tunables == std::string_view::npos || slabdata == std::string_view::npos ||
      slabdata < tunables)
    return std::nullopt;
  SlabinfoLine cache;
  cache.name = line.substr(0, tunables);
  std::string_view slabs = line.substr(slabdata + 3);
  const auto objects = last_numbers<5>(cache.name);
  const auto numbers = last_numbers<3>(slabs);
  if (!objects || !numbers || cache.name.empty()) return std::nullopt;
  cache.active = (*objects)[0];
  cache.object_bytes = (*objects)[2];
  cache.pages = (*numbers)[1] * (*objects)[4];
  return cache;
}

}  // namespace kmt
