// SPDX-License-Identifier: GPL-2.0-or-later
// Which frames of a stack that a BPF program took are those of tracing itself: the innermost ones, between the program
// and the function that has the tracepoint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace kmt {

class TracingFrames {
 public:
  explicit TracingFrames(std::string_view kallsyms);  // the text of /proc/kallsyms

  // How many of the innermost frames.
  std::size_t leading(std::span<const std::uint64_t> frames) const;

 private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> functions_;  // begin and end, sorted
};

}  // namespace kmt
