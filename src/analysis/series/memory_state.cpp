// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/series/memory_state.hpp"

#include <algorithm>
#include <string_view>

#include "base/proc_text.hpp"

namespace kmt {

namespace {

void add_line(std::string_view name, std::uint64_t bytes, bool is_first, MemoryState& state) {
  const auto row = std::find_if(state.rows.begin(), state.rows.end(),
                                [name](const MemoryStateRow& known) { return known.name == name; });
  if (row != state.rows.end()) {
    row->last = bytes;
    row->most = std::max(row->most, bytes);
  } else if (is_first) {
    state.rows.push_back({std::string(name), bytes, bytes, bytes});
  }
}

}  // namespace

MemoryState memory_state_of(const std::vector<StateSample>& samples) {
  MemoryState state;
  for (const StateSample& sample : samples) {
    const auto meminfo = std::find_if(sample.texts.begin(), sample.texts.end(),
                                      [](const auto& text) { return text.first == "meminfo"; });
    if (meminfo == sample.texts.end()) continue;
    for (const std::string_view name : kMeminfoNames)
      if (const auto found = find_proc_value(meminfo->second, name))
        add_line(name, found->value, state.samples == 0, state);
    if (state.samples++ == 0) state.first_ns = sample.ticks;
    state.last_ns = sample.ticks;
  }
  return state;
}

}  // namespace kmt
