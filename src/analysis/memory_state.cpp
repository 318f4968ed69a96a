// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/memory_state.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "base/text.hpp"

namespace kmt {

namespace {

constexpr std::array<std::string_view, 9> kNames = {"MemFree",      "MemAvailable", "Slab",
                                                    "SReclaimable", "SUnreclaim",   "KernelStack",
                                                    "PageTables",   "VmallocUsed",  "Percpu"};

// "Slab:              96564 kB"
void add_line(std::string_view line, bool is_first, MemoryState& state) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || std::find(kNames.begin(), kNames.end(), line.substr(0, colon)) == kNames.end())
    return;
  const std::string_view digits = trim(line.substr(colon + 1));
  std::uint64_t kilobytes = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), kilobytes).ec != std::errc{}) return;
  const std::uint64_t bytes = kilobytes * 1024;
  const auto row = std::find_if(state.rows.begin(), state.rows.end(),
                                [&](const MemoryStateRow& known) { return known.name == line.substr(0, colon); });
  if (row != state.rows.end()) {
    row->last = bytes;
    row->most = std::max(row->most, bytes);
  } else if (is_first) {
    state.rows.push_back({std::string(line.substr(0, colon)), bytes, bytes, bytes});
  }
}

}  // namespace

MemoryState memory_state_of(const std::vector<StateSample>& samples) {
  MemoryState state;
  for (const StateSample& sample : samples) {
    const auto meminfo = std::find_if(sample.texts.begin(), sample.texts.end(),
                                      [](const auto& text) { return text.first == "meminfo"; });
    if (meminfo == sample.texts.end()) continue;
    for (const std::string_view line : split(meminfo->second, '\n')) add_line(line, state.samples == 0, state);
    if (state.samples++ == 0) state.first_ns = sample.ticks;
    state.last_ns = sample.ticks;
  }
  return state;
}

}  // namespace kmt
