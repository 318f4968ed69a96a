// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/code/symbol_names.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace kmt {

std::string source_text(std::span<const SourceFrame> frames) {
  if (frames.empty()) return {};
  auto frame = std::find_if(frames.begin(), frames.end(), [](const SourceFrame& f) { return !f.hides_caller; });
  if (frame == frames.end()) --frame;
  if (frame->file.empty()) return {};
  std::string text = frame->line == 0 ? frame->file : fmt::format("{}:{}", frame->file, frame->line);
  if (frame + 1 != frames.end()) text += fmt::format(", inlined {}", frame->function);
  return text;
}

}  // namespace kmt
