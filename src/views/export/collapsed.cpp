// SPDX-License-Identifier: GPL-2.0-or-later
#include <map>

#include <fmt/format.h>

#include "views/common/export_stacks.hpp"

namespace kmt {

std::string collapsed_export(const StackProfile& profile, StackMetric metric) {
  // Offsets within functions are dropped, so that all call sites in a function become one frame.
  std::map<std::string, std::uint64_t> lines;
  for (const StackSample& sample : profile.samples) {
    if (sample.value(metric) == 0) continue;
    std::string line;
    for (auto frame = sample.frames.rbegin(); frame != sample.frames.rend(); ++frame) {
      if (!line.empty()) line += ';';
      for (const char c : profile.frames[*frame].function) c == ';' ? line += "\\x3b" : line += c;
    }
    lines[line] += sample.value(metric);
  }
  std::string out;
  for (const auto& [stack, value] : lines) out += fmt::format("{} {}\n", stack, value);
  return out;
}

}  // namespace kmt
