// SPDX-License-Identifier: GPL-2.0-or-later
// The state of the kernel's memory at one time, stored as the texts of the kernel's files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kmt {

struct StateSample {
  // Time on the trace's clock. In a TraceInfo, this time is already converted to nanoseconds.
  std::uint64_t ticks = 0;
  std::uint64_t unix_ns = 0;  // wall-clock time
  // Pairs of a file name and the file's content, such as "meminfo" and the text of /proc/meminfo.
  std::vector<std::pair<std::string, std::string>> texts;
};

// Returns the text with this name; empty if the sample has none.
inline std::string_view text_of(const StateSample& sample, std::string_view name) {
  for (const auto& [known, text] : sample.texts)
    if (known == name) return text;
  return {};
}

}  // namespace kmt
