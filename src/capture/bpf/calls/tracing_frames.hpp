// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the frames of tracing code in a stack that a BPF program recorded. These are the innermost frames: the program,
// and all functions between it and the function that has the tracepoint.
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

  // Returns how many of the innermost frames belong to tracing.
  std::size_t leading(std::span<const std::uint64_t> frames) const;

 private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> functions_;  // start and end addresses, sorted
};

}  // namespace kmt
