// SPDX-License-Identifier: GPL-2.0-or-later
// How the kernel's memory stood at one time, in its own words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kmt {

struct StateSample {
  std::uint64_t ticks = 0;                                 // of the trace's clock; in a TraceInfo scaled to nanoseconds
  std::uint64_t unix_ns = 0;                               // the wall clock
  std::vector<std::pair<std::string, std::string>> texts;  // "meminfo" and the text of /proc/meminfo
};

// The text of that name; empty where the sample has none.
inline std::string_view text_of(const StateSample& sample, std::string_view name) {
  for (const auto& [known, text] : sample.texts)
    if (known == name) return text;
  return {};
}

}  // namespace kmt
