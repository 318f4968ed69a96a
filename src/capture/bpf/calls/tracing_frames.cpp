// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/bpf/calls/tracing_frames.hpp"

#include <algorithm>

#include "base/number.hpp"
#include "base/text.hpp"
#include "trace/code/tracing_functions.hpp"

namespace kmt {

TracingFrames::TracingFrames(std::string_view kallsyms) {
  std::vector<std::pair<std::uint64_t, bool>> symbols;
  for (std::string_view line : split(kallsyms, '\n')) {
    const auto address = take_number<std::uint64_t>(line, 16);
    if (!address || line.size() < 4) continue;
    const std::string_view name = line.substr(3);
    symbols.emplace_back(*address, is_tracing_function(name.substr(0, name.find('\t'))));
  }
  std::sort(symbols.begin(), symbols.end());
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    if (!symbols[i].second) continue;
    const std::uint64_t begin = symbols[i].first;
    while (i + 1 < symbols.size() && symbols[i + 1].first == begin) ++i;
    functions_.emplace_back(begin, i + 1 < symbols.size() ? symbols[i + 1].first : begin + 4096);
  }
}

std::size_t TracingFrames::leading(std::span<const std::uint64_t> frames) const {
  const auto first_other = std::find_if_not(frames.begin(), frames.end(), [this](std::uint64_t frame) {
    const auto after = std::upper_bound(functions_.begin(), functions_.end(), std::pair{frame, ~std::uint64_t{0}});
    return after != functions_.begin() && frame <= std::prev(after)->second;
  });
  return static_cast<std::size_t>(first_other - frames.begin());
}

}  // namespace kmt
